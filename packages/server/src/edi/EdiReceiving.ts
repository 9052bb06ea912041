/** Stores what partners send: each kind of set goes where a call of the same kind would go. */
import { type Principal, TransitEventIntake } from "@waybill/core"
import { Invoices } from "@waybill/core/invoices"
import { Pickups, PickupStore, withNulls } from "@waybill/core/pickups"
import type { EdiHandlers, EdiPickupAnswer, EdiPickupOrder, HandlerResult } from "@waybill/edi"
import { Effect, Option } from "effect"
import { clientOf, type Partner, principalOf } from "./EdiPartners.ts"

export type ReceivingServices = Invoices | Pickups | PickupStore | TransitEventIntake

/** A partner orders pickups as a shipper, for the accounts of its profile. */
export const shipperOf = ({ profile, tenantId }: Partner): Principal => ({ tenantId, client: clientOf(profile), roles: ["customer"], accounts: profile.accounts ?? [], origin: "key" })

/** References of an order that say how it came. Its answer needs them. */
export const orderMarks = { set: "EDI_SET", scac: "SCAC" } as const

/** The request with its marks, in its first shipment. */
const marked = ({ request, scac, set }: EdiPickupOrder): EdiPickupOrder["request"] => {
  const [first, ...others] = request.shipmentDetails ?? []
  const marks = [{ referenceType: orderMarks.set, referenceNumber: set }, { referenceType: orderMarks.scac, referenceNumber: scac }]
  return { ...request, shipmentDetails: [{ hazmatCheck: false, ...first, referenceNumbers: [...first?.referenceNumbers ?? [], ...marks] }, ...others] }
}

const messageOf = ({ message, references = [] }: Pick<EdiPickupAnswer, "message" | "references">): string | null =>
  [message, ...references.map(({ type, value }) => `${type} ${value}`)].filter((text) => text !== undefined).join(", ") || null

export const handlersOf = Effect.fnUntraced(function*(partner: Partner) {
  const events = yield* TransitEventIntake
  const invoices = yield* Invoices
  const pickups = yield* Pickups
  const pickupStore = yield* PickupStore
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const carrier = principalOf(partner)
  const shipper = shipperOf(partner)

  const takeInvoice = Effect.fnUntraced(function*(item: Parameters<typeof invoices.create>[1]) {
    const known = yield* Effect.option(invoices.get(carrier, item.uniqueID, { DOT: item.DOT, MC: item.MC }))
    yield* Effect.catchTags(invoices.create(carrier, item), { InvoiceExists: refused, InvoiceNotYours: refused })
    return { result: Option.isSome(known) ? "duplicate" : "accepted" } as HandlerResult
  })

  const takeOrder = Effect.fnUntraced(function*(order: EdiPickupOrder) {
    const known = yield* pickupStore.answered(shipper.tenantId, shipper.client, order.key)
    yield* pickups.create(shipper, withNulls(marked(order)), { idempotencyKey: order.key, waitMillis: 0 })
    return { result: Option.isSome(known) ? "duplicate" : "accepted" } as HandlerResult
  })

  const takeAnswer = ({ decision, key, scac, shipmentNumber, ...answer }: EdiPickupAnswer) =>
    pickups.decideReferenced(carrier, shipmentNumber, { decision, scac, message: messageOf(answer) }, { idempotencyKey: key! }).pipe(
      Effect.map((result): HandlerResult => ({ result })),
      Effect.catchTags({
        PickupNotFound: () => refused({ message: `No pickup with the shipment number ${shipmentNumber} waits for a decision.` }),
        PickupDecided: refused
      })
    )

  // what was stored before a refusal is a duplicate when the sets are given one by one
  const oneByOne = <Item, E>(take: (item: Item) => Effect.Effect<HandlerResult, E>) => (items: ReadonlyArray<Item>) => run(Effect.forEach(items, take))

  const handlers: EdiHandlers = {
    transitEvents: async (items) => (await run(events.report(carrier, items))).results,
    invoices: oneByOne(takeInvoice),
    pickups: oneByOne(takeOrder),
    pickupAnswers: oneByOne(takeAnswer)
  }
  return handlers
})

/** As a refusal of the bridge, which has no errors of the areas. */
const refused = (error: { readonly message: string }) => Effect.fail({ faults: [{ detail: error.message }] })
