/** Stores what partners send: each kind of set is handled like the call of its kind. */
import { type Principal, TransitEventIntake } from "@waybill/core"
import { Invoices } from "@waybill/core/invoices"
import { pickupKeyMillis, Pickups, PickupStore, withNulls } from "@waybill/core/pickups"
import type { EdiHandlers, EdiPickupAnswer, EdiPickupOrder, HandlerResult } from "@waybill/edi"
import { Clock, Effect, Option } from "effect"
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
    if (Option.isNone(known)) yield* checkAge(order.interchangeDate)
    yield* pickups.create(shipper, withNulls(marked(order)), { idempotencyKey: order.key, waitMillis: 0 })
    return { result: Option.isSome(known) ? "duplicate" : "accepted" } as HandlerResult
  })

  const takeAnswer = Effect.fnUntraced(function*({ decision, interchangeDate, key, scac, shipmentNumber, ...answer }: EdiPickupAnswer) {
    const known = yield* pickupStore.answered(carrier.tenantId, carrier.client, key!)
    if (Option.isNone(known)) yield* checkAge(interchangeDate!)
    return yield* pickups.decideReferenced(carrier, shipmentNumber, { decision, scac, message: messageOf(answer) }, { idempotencyKey: key! }).pipe(
      Effect.map((result): HandlerResult => ({ result })),
      Effect.catchTags({
        PickupNotFound: () => refused({ message: `No pickup with the shipment number ${shipmentNumber} waits for a decision.` }),
        PickupDecided: refused
      })
    )
  })

  // what was stored before a refusal is a duplicate when the sets are given one by one
  const oneByOne = <Item, E>(take: (item: Item) => Effect.Effect<HandlerResult, E>) => (items: ReadonlyArray<Item>) => run(Effect.forEach(items, take))

  return {
    transitEvents: async (items) => (await run(events.report(carrier, items))).results,
    invoices: oneByOne(takeInvoice),
    pickups: oneByOne(takeOrder),
    pickupAnswers: oneByOne(takeAnswer)
  } satisfies EdiHandlers
})

const dayMillis = 86_400_000

/** Dates of interchanges have no time zone. With a day on both sides a key is remembered until its interchange is too old. */
const maxAgeMillis = pickupKeyMillis - 2 * dayMillis

/** A partner that keeps its files may have them read again at any time, also when the keys of what they ordered are forgotten. */
const checkAge = Effect.fnUntraced(function*(interchangeDate: string) {
  const [, year, month, day] = /^(\d\d)(\d\d)(\d\d)$/u.exec(interchangeDate) ?? []
  const age = (yield* Clock.currentTimeMillis) - Date.UTC(2000 + Number(year), Number(month) - 1, Number(day))
  if (age >= -dayMillis && age <= maxAgeMillis) return
  yield* refused({
    message: `The interchange is of ${interchangeDate} (ISA-09). Orders and answers are taken for ${maxAgeMillis / dayMillis} days from that date, so that a file that is read again orders nothing twice. Send it in a new interchange.`
  })
})

/** As a refusal of the bridge, which has no errors of the areas. */
const refused = (error: { readonly message: string }) => Effect.fail({ faults: [{ detail: error.message }] })
