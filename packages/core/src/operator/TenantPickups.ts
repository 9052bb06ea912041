/** The pickups of a tenant, and decisions on waiting ones. For operators. */
import { Context, Effect, Layer, Schema } from "effect"
import type { NotPermitted } from "../access/AccessErrors.ts"
import type { CarrierDecisionInput } from "../pickups/model/CarrierDecision.ts"
import type { KeptPickup } from "../pickups/model/Pickup.ts"
import type { PickupReportResult } from "../pickups/model/PickupReport.ts"
import type { PickupDecided, PickupNotFound } from "../pickups/PickupErrors.ts"
import { pickupIn } from "../pickups/PickupRecords.ts"
import { Pickups } from "../pickups/Pickups.ts"
import { type PickupRow, PickupStore } from "../pickups/PickupStore.ts"
import { formatInstant, InstantText } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { defaultListLimit, IdCursor, ListLimit, type ListPage, listPage } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"

/** Which pickups operators list. */
export const pickupListStates = ["waiting", "all"] as const

/** A page of a tenant's pickups. */
export const PickupListQuery = Schema.Struct({
  state: Schema.optionalKey(Schema.Literals(pickupListStates).annotate({ message: `state is one of ${pickupListStates.join(", ")}.` })),
  cursor: IdCursor,
  limit: ListLimit
})

const WrittenTime = Schema.NullOr(Schema.String.annotate({ description: "As the shipper wrote it, in local time of the place." }))

/** A pickup as operators see it. Instants are UTC text. */
export const PickupView = Schema.Struct({
  pickupId: Schema.String,
  confirmationNumber: Schema.NullOr(Schema.String).annotate({ description: "The carrierPickupNumber; null until there is one." }),
  status: Schema.String,
  client: Schema.String.annotate({ description: "The client that ordered it." }),
  isTest: Schema.Boolean,
  orderedAt: InstantText,
  waitingFor: Schema.NullOr(Schema.Literals(["order", "change"])).annotate({ description: "What waits for the carrier's decision; null if nothing does." }),
  waitingSince: Schema.NullOr(InstantText),
  carrier: Schema.Struct({ carrierName: Schema.NullOr(Schema.String), scac: Schema.NullOr(Schema.String) }),
  readyWindow: Schema.Struct({ readyDate: WrittenTime, readyTime: WrittenTime, closeTime: WrittenTime, timeZone: Schema.NullOr(Schema.String) })
    .annotate({ description: "The window of the requested change, if one waits." }),
  origin: Schema.Struct({ name: Schema.String, city: Schema.String, state: Schema.String, zip: Schema.String })
    .annotate({ description: "The first pickup address." })
}).annotate({ identifier: "OperatorPickup" })
export type PickupView = typeof PickupView.Type

/** Lets operators list pickups and decide on those that wait, for carriers without a system of their own. */
export class TenantPickups extends Context.Service<TenantPickups, {
  /** `waiting`: undecided ones, oldest order first. `all`, the default: latest order first. */
  readonly list: (tenantId: string, query?: typeof PickupListQuery.Encoded) => Effect.Effect<ListPage<PickupView>, InvalidInput | StorageError>
  /** Decides like a carrier that sees all pickups of the tenant. `operator` is recorded in the pickup's history. */
  readonly decide: (
    tenantId: string,
    operator: string,
    pickupId: string,
    decision: CarrierDecisionInput
  ) => Effect.Effect<PickupReportResult, PickupNotFound | PickupDecided | NotPermitted | InvalidInput | StorageError>
}>()("@waybill/core/operator/TenantPickups") {
  static readonly layer = Layer.effect(TenantPickups, Effect.gen(function*() {
    const store = yield* PickupStore
    const pickups = yield* Pickups

    const list = Effect.fn("TenantPickups.list")(function*(tenantId: string, input: unknown = {}) {
      const { cursor, limit = defaultListLimit, state = "all" } = yield* decodeQuery(input)
      return yield* listPage({
        read: (range) => store.list(tenantId, { ...range, waiting: state === "waiting" }),
        idOf: ({ pickupId }) => pickupId,
        sizeOf: ({ doc }) => doc.length,
        shown: viewOf
      }, cursor, limit)
    })

    const decide = Effect.fn("TenantPickups.decide")((tenantId: string, operator: string, pickupId: string, decision: CarrierDecisionInput) =>
      pickups.decide({ tenantId, client: operator, roles: ["carrier"], accounts: [], origin: "key" }, pickupId, decision))

    return TenantPickups.of({ list, decide })
  }))
}

const decodeQuery = decodeInput(PickupListQuery, { closed: true })

const viewOf = (row: PickupRow): PickupView => {
  const pickup = pickupIn(row)
  const { waiting } = pickup
  const { closeTime, pickupAddress: [origin], pickupLocationTimeZone, readyDate, readyTime } = (waiting ?? pickup).request
  return {
    pickupId: row.pickupId,
    confirmationNumber: row.number ?? null,
    status: pickup.words,
    client: row.client,
    isTest: row.isTest,
    orderedAt: formatInstant(row.createdAt),
    waitingFor: waitingFor(row, pickup),
    waitingSince: waiting === null ? null : formatInstant(waiting.since),
    carrier: { carrierName: pickup.carrier.carrierName, scac: pickup.carrier.scac },
    readyWindow: { readyDate, readyTime, closeTime, timeZone: pickupLocationTimeZone },
    // a request has at least one address
    origin: { name: origin!.orgAddressName, city: origin!.orgCity, state: origin!.orgState, zip: origin!.orgZip }
  }
}

const waitingFor = ({ pickupId }: PickupRow, { waiting }: KeptPickup): PickupView["waitingFor"] =>
  waiting === null ? null : waiting.id === pickupId ? "order" : "change"
