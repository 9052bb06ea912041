/** Helpers for suites of shipment statuses: reports with their notices, and subscriptions. */
import type { DestinationSettings, DestinationState } from "@waybill/core/delivery"
import { ShipmentStatusStore, type StatusHistoryEntry, type StatusNotice, StatusSubscriptionStore, type StatusWrite } from "@waybill/core/shipment-status"
import { Effect } from "effect"
import { bytesOf, destinationSettings, idOf, inTransaction, letSee, occurredAt, openWith } from "../StorageFixtures.ts"

type StatusFixture = Partial<StatusWrite> & Pick<StatusWrite, "shipmentId">

export const statusOf = (fixture: StatusFixture): StatusWrite => ({
  state: "{}",
  verified: bytesOf(`verified ${fixture.shipmentId}`),
  public: bytesOf(`public ${fixture.shipmentId}`),
  covered: true,
  pickupAt: occurredAt,
  deliveredAt: undefined,
  keys: undefined,
  references: undefined,
  ...fixture
})

interface NoticeFixture {
  readonly shipmentId: string
  readonly sequence: number
  readonly body?: string
}

export const noticeOf = ({ body, sequence, shipmentId }: NoticeFixture): StatusNotice => ({
  shipmentId,
  sequence,
  noticeId: `${shipmentId}/${sequence}`,
  body: bytesOf(body ?? `${shipmentId}/${sequence}`)
})

interface ReportFixture {
  /** The accounts of the shipments. */
  readonly accounts?: ReadonlyArray<string>
  readonly history?: ReadonlyArray<StatusHistoryEntry>
  readonly notices?: ReadonlyArray<NoticeFixture>
  readonly traceparent?: string
}

/** Locks shipments and writes their statuses in one transaction, as reporting does. */
export const report = Effect.fnUntraced(function*(tenantId: string, fixtures: ReadonlyArray<StatusFixture>, options: ReportFixture = {}) {
  const store = yield* ShipmentStatusStore
  const { accounts, history = [], notices = [], traceparent } = options
  const shipmentIds = new Set([...fixtures, ...history, ...notices].map((each) => each.shipmentId))
  yield* inTransaction(Effect.andThen(
    store.lock(tenantId, [...shipmentIds].map((shipmentId) => ({ shipmentId, accounts }))),
    store.write(tenantId, { statuses: fixtures.map(statusOf), history, notices: notices.map(noticeOf), traceparent })
  ))
})

interface FollowerFixture {
  readonly n?: number
  readonly client?: string
  readonly references: ReadonlyArray<string>
  readonly state?: DestinationState
}

export const statusDestination = ({ client = "client", n = 1, state = "active" }: Pick<FollowerFixture, "client" | "n" | "state"> = {}): DestinationSettings => {
  const settings = destinationSettings({ client, n, state })
  return {
    ...settings,
    source: "shipment-status",
    envelope: { open: "", close: "" },
    policy: { ...settings.policy, batchMaxSize: 1 },
    signing: "whenRegistered"
  }
}

/** A subscription to references with its destination. */
export const follow = (tenantId: string, fixture: FollowerFixture) => {
  const { client = "client", n = 1, references } = fixture
  const record = { id: idOf(n), client, doc: "{}", references, createdAt: occurredAt }
  return openWith(tenantId, statusDestination(fixture), StatusSubscriptionStore.use((store) => store.insert(tenantId, record)))
}

/** A client that sees account A, and its subscription to the reference `r`. */
export const followingClient = (tenantId: string, fixture: Partial<FollowerFixture> = {}) =>
  Effect.andThen(letSee(tenantId, "client", ["A"]), follow(tenantId, { references: ["r"], ...fixture }))
