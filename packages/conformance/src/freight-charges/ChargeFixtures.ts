/** Helpers for suites of freight charges: subscriptions and published bills. */
import { DeliveryQueue, type DestinationSettings, type DestinationState, secretOfClient } from "@waybill/core/delivery"
import {
  type BillRow,
  type ChargeNotice,
  ChargeSubscriptionStore,
  type ChargeSubscriptionRecord,
  FreightBillStore,
  type InFlightBill,
  type WindowTimes
} from "@waybill/core/freight-charges"
import { Clock, Effect, Option } from "effect"
import { bytesOf, destinationSettings, idOf, inTransaction, letSee, occurredAt, textOf } from "../StorageFixtures.ts"

export interface ChargeSubscriptionFixture {
  readonly n?: number
  readonly client?: string
  /** Default: account A. `"all"`: all accounts of its client. */
  readonly accounts?: ReadonlyArray<string> | "all"
  readonly webhookUrl?: string
  readonly state?: DestinationState
  readonly doc?: string
  /** The content of its destination: single objects, or windows. */
  readonly source?: "freight-charges" | "freight-charge-windows"
}

const webhook = "https://receiver.example/pfc"

export const chargeDestination = (fixture: ChargeSubscriptionFixture = {}): DestinationSettings => {
  const { client = "client", n = 1, source = "freight-charges", state = "active", webhookUrl = webhook } = fixture
  return {
    ...destinationSettings({ client, n, state, endpointUrl: webhookUrl, policy: { batchMaxSize: 1 } }),
    source,
    hmacSecretId: secretOfClient(client),
    envelope: { open: "[", close: "]" },
    signing: "whenRegistered",
    whenDead: "pause"
  }
}

export const chargeRecord = (fixture: ChargeSubscriptionFixture = {}): ChargeSubscriptionRecord => {
  const { accounts = ["A"], client = "client", doc, n = 1, webhookUrl = webhook } = fixture
  return {
    id: idOf(n),
    client,
    doc: doc ?? `{"n":${n}}`,
    webhookUrl,
    accounts: accounts === "all" ? undefined : accounts,
    createdAt: occurredAt
  }
}

export const inFlightOf = (bill: Pick<BillRow, "billId" | "version" | "accounts">, body?: string): InFlightBill => ({
  billId: bill.billId,
  version: bill.version,
  body: bytesOf(body ?? `${bill.billId}/${bill.version}`),
  accounts: bill.accounts
})

/** Accounts that have the bill now, and those that had it before. */
const concernedBy = (bill: BillRow, known: ReadonlyArray<BillRow>): ReadonlyArray<string> =>
  [...new Set([...bill.accounts, ...known.find((each) => each.billId === bill.billId)?.accounts ?? []])]

/**
 * Creates a subscription with its destination and in-flight list, as the use case does. If another subscription already covers an account,
 * returns that account and creates nothing. `has`: the accounts of its client, if they differ from those that it names.
 */
export const subscribeToCharges = Effect.fnUntraced(function*(
  tenantId: string,
  fixture: ChargeSubscriptionFixture = {},
  has: ReadonlyArray<string> = fixture.accounts === "all" ? [] : fixture.accounts ?? ["A"]
) {
  const queue = yield* DeliveryQueue
  const bills = yield* FreightBillStore
  const subscriptions = yield* ChargeSubscriptionStore
  const record = chargeRecord(fixture)
  return yield* inTransaction(Effect.gen(function*() {
    const taken = yield* subscriptions.covered(tenantId, record.client, record.accounts)
    if (Option.isSome(taken)) return taken.value
    yield* subscriptions.insert(tenantId, record)
    const addInFlight = Effect.gen(function*() {
      const open = yield* bills.open(tenantId, has, { after: undefined, limit: 1000, unlistedBy: record.id })
      yield* subscriptions.addInFlight(tenantId, record.id, open.map((bill) => inFlightOf({ ...bill, accounts: bill.accounts.filter((account) => has.includes(account)) })))
    })
    yield* addInFlight
    yield* subscriptions.hold(tenantId, has)
    yield* subscriptions.removeChanged(tenantId, record.id)
    yield* addInFlight
    yield* queue.openDestination(tenantId, chargeDestination(fixture))
    return undefined
  }))
})

/** A client that sees account A, and its subscription. */
export const subscribedClient = (tenantId: string, fixture: ChargeSubscriptionFixture = {}) =>
  Effect.andThen(letSee(tenantId, "client", ["A"]), subscribeToCharges(tenantId, fixture))

export interface BillFixture {
  readonly billId: string
  readonly accounts?: ReadonlyArray<string>
  readonly state?: BillRow["state"]
  readonly doc?: string
  readonly body?: string
}

/** When the notices of a call are sent, by the store's clock; `undefined` means at once. */
export type WindowOf = (now: number) => WindowTimes | undefined

/** Publishes the next version of each bill to all clients that see it or saw the previous version. */
export const publishBills = Effect.fnUntraced(function*(
  tenantId: string,
  fixtures: ReadonlyArray<BillFixture>,
  options: { readonly window?: WindowOf; readonly traceparent?: string } = {}
) {
  const store = yield* FreightBillStore
  return yield* inTransaction(Effect.gen(function*() {
    const known = yield* store.lock(tenantId, fixtures.map((each) => each.billId))
    const bills = fixtures.map(({ accounts = ["A"], billId, doc = "{}", state = "open" }): BillRow => ({
      billId,
      version: (known.find((each) => each.billId === billId)?.version ?? 0) + 1,
      state,
      accounts,
      doc
    }))
    const accounts = [...new Set([...known, ...bills].flatMap((each) => each.accounts))]
    const now = yield* store.gate(tenantId, accounts)
    const window = options.window?.(now)
    const viewers = yield* store.viewers(tenantId, accounts)
    const notices = bills.map(({ billId, version }, at): ChargeNotice => ({
      noticeId: globalThis.crypto.randomUUID(),
      billId,
      version,
      accounts: concernedBy(bills[at]!, known),
      body: bytesOf(fixtures[at]!.body ?? `${billId}/${version}`)
    }))
    const notifications = bills.flatMap((bill, notice) => {
      const concerned = concernedBy(bill, known)
      return viewers.filter((viewer) => viewer.accounts.some((account) => concerned.includes(account)))
        .map(({ subscriptionId }) => ({ subscriptionId, notice, window }))
    })
    yield* store.append(tenantId, { bills, notices, notifications, traceparent: options.traceparent })
    return bills
  }))
})

/** The in-flight list of subscription `n`. */
export const inFlightBodies = (tenantId: string, n = 1, client = "client") =>
  Effect.flatMap(ChargeSubscriptionStore, (store) => Effect.map(store.inFlight(tenantId, client, idOf(n), { after: undefined, limit: 1000, bytes: 1e9 }), (found) => found.map(({ body }) => textOf(body))))

export const minutes = 60_000

/** Prunes bills that ended, and notices stored, before the given number of minutes from now. */
export const prune = (tenantId: string, inMinutes: { readonly ended?: number; readonly noticed?: number }) =>
  Effect.flatMap(Effect.all([FreightBillStore, Clock.currentTimeMillis]), ([store, now]) =>
    store.prune(tenantId, { ended: now + (inMinutes.ended ?? -10) * minutes, noticed: now + (inMinutes.noticed ?? -10) * minutes }))
