/** Freight charge subscriptions: create, read bills in flight, cancel, test a receiver, and resume after a suspension. */
import { Clock, Context, Effect, Layer, Option, Stream } from "effect"
import type { NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersAndCustomers } from "../access/Callers.ts"
import { makeRememberAccess } from "../access/ClientAccess.ts"
import { accountOfGrant, accountWithin } from "../access/model/CarrierNumbers.ts"
import { carrierOf, type Principal } from "../access/model/Principal.ts"
import { SubscriptionPausedByOperator, type TooManyWebhookTests } from "../delivery/DeliveryErrors.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { DeliveryQueue, type DestinationSettings, type DestinationState } from "../delivery/DeliveryQueue.ts"
import { defaultPolicy } from "../delivery/model/DeliveryPolicy.ts"
import { secretOfClient } from "../delivery/model/SecretOwner.ts"
import { SigningSecrets } from "../delivery/secrets/SigningSecrets.ts"
import { WebhookTests } from "../delivery/WebhookTests.ts"
import { fault } from "../shared/Fault.ts"
import { formatInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { mapPaced } from "../shared/Turns.ts"
import { isUniqueId, UniqueIds } from "../shared/UniqueIds.ts"
import { makeResumeDestination, openDestinationWithin } from "../subscriptions/Destinations.ts"
import { makeWebhookChecks } from "../subscriptions/WebhookChecks.ts"
import { ChargeSubscriptionStore, type InFlightBill, type StoredChargeSubscription } from "./ChargeSubscriptionStore.ts"
import { AccountsNotPermitted, ChargeSubscriptionConflict, ChargeSubscriptionNotFound, WebhookTestFailed } from "./FreightChargeErrors.ts"
import { type BillRow, FreightBillStore } from "./FreightBillStore.ts"
import { FreightChargeOptions } from "./FreightChargeOptions.ts"
import { inFlightOf } from "./model/Audience.ts"
import {
  type ChargeSubscription,
  ChargeSubscriptionCreate,
  type ChargeSubscriptionSettings,
  settingsOf,
  WebhookTest
} from "./model/ChargeSubscription.ts"
import { localText, offsetsOf } from "./model/ChargeWindow.ts"
import { billFrom } from "./model/FreightBill.ts"
import { sampleCharge } from "./model/SampleCharge.ts"

/** Source names in the delivery queue: single notices, and collected windows. */
export const chargeSource = "freight-charges"
/** Source of the destinations of hourly and daily subscriptions, which send a whole window in one POST. */
export const chargeWindowSource = "freight-charge-windows"

/** Answer to a successful webhook test (area E). */
export interface WebhookTestResult {
  readonly message: string
  /** Number of suspended subscriptions that were resumed, if any. */
  readonly resumed?: number
}

/** Subscriptions to freight charges (area E): create, read, list bills in flight, cancel, test a webhook. */
export class ChargeSubscriptions extends Context.Service<ChargeSubscriptions, {
  /** Stores the open bills of the accounts and notifies every later change. */
  readonly create: (
    principal: Principal,
    input: typeof ChargeSubscriptionCreate.Encoded
  ) => Effect.Effect<
    ChargeSubscription,
    InvalidInput | NotPermitted | QuotaExceeded | AccountsNotPermitted | ChargeSubscriptionConflict | StorageError
  >
  /** Returns the caller's own subscription. A cancelled one is inactive, until retention removes it. */
  readonly get: (principal: Principal, id: string) => Effect.Effect<ChargeSubscription, ChargeSubscriptionNotFound | NotPermitted | StorageError>
  /** Stops deliveries. Cancelling again succeeds, until retention removes the subscription. */
  readonly cancel: (principal: Principal, id: string) => Effect.Effect<void, ChargeSubscriptionNotFound | NotPermitted | StorageError>
  /** The JSON of each bill in flight when it was created, limited to bills that the caller may still see. Read in pages on demand. */
  readonly inFlight: (
    principal: Principal,
    id: string
  ) => Effect.Effect<Stream.Stream<Uint8Array, StorageError>, ChargeSubscriptionNotFound | NotPermitted | StorageError>
  /**
   * Sends a sample to the address. If the receiver accepts it, resumes the caller's suspended subscriptions with this address, except
   * those that an operator paused. Fails when only such paused ones exist.
   */
  readonly testWebhook: (
    principal: Principal,
    input: typeof WebhookTest.Encoded
  ) => Effect.Effect<
    WebhookTestResult,
    InvalidInput | NotPermitted | TooManyWebhookTests | WebhookTestFailed | SubscriptionPausedByOperator | StorageError
  >
}>()("@waybill/core/freight-charges/ChargeSubscriptions") {
  static readonly layer = Layer.effect(ChargeSubscriptions, Effect.gen(function*() {
    const store = yield* ChargeSubscriptionStore
    const bills = yield* FreightBillStore
    const queue = yield* DeliveryQueue
    const resumeDestination = yield* makeResumeDestination
    const rememberAccess = yield* makeRememberAccess
    const secrets = yield* SigningSecrets
    const transaction = yield* Transaction
    const limits = yield* TenantLimits
    const ids = yield* UniqueIds
    const offsetAt = offsetsOf((yield* FreightChargeOptions).timeZone)
    const tests = yield* WebhookTests
    const { receiverFaults } = yield* makeWebhookChecks

    const checkReceiver = (principal: Principal, { hmacSecretId, webhookUrl }: typeof WebhookTest.Type) =>
      Effect.flatMap(receiverFaults(principal, { member: "webhookUrl", url: webhookUrl, hmacSecretId }), InvalidInput.ifAny)

    const readSettings = Effect.fnUntraced(function*(principal: Principal, input: unknown) {
      const request = yield* decodeCreate(input)
      yield* checkReceiver(principal, request)
      const foreign = request.accounts.filter((account) => !principal.accounts.includes(account))
      if (foreign.length > 0) return yield* new AccountsNotPermitted({ accounts: foreign.slice(0, maxAccountsNamed) })
      return settingsOf(request)
    })

    /** Adds the open bills that the list does not have. */
    const addInFlight = Effect.fnUntraced(function*(tenantId: string, id: string, settings: ChargeSubscriptionSettings, grants: ReadonlyArray<string>) {
      const covered = new Set(grants)
      const accounts = accountsIn(grants)
      for (let after: string | undefined;;) {
        const rows: ReadonlyArray<BillRow> = yield* bills.open(tenantId, accounts, { after, limit: billsAtATime, unlistedBy: id })
        const listed = yield* mapPaced(rows, (row): InFlightBill => {
          const { accounts: seenBy, body } = inFlightOf(billFrom(row), settings, covered)
          // a bill of another carrier with the same account: nobody is shown it, and it is not read again
          return { billId: row.billId, version: row.version, body: encoder.encode(seenBy.length === 0 ? "" : body), accounts: seenBy }
        })
        if (listed.length > 0) yield* store.addInFlight(tenantId, id, listed)
        if (rows.length < billsAtATime) return
        after = rows[rows.length - 1]!.billId
      }
    })

    const create = Effect.fn("ChargeSubscriptions.create")(function*(principal: Principal, input: unknown) {
      yield* carriersAndCustomers(principal)
      const settings = yield* readSettings(principal, input)
      const { client, tenantId } = principal
      const all = settings.billScope === "all_accounts"
      const now = yield* Clock.currentTimeMillis
      const id = ids.nextAt(now)
      const quotas = yield* limits.of(tenantId)
      return yield* transaction.run(Effect.gen(function*() {
        if (settings.hmacSecretId !== undefined) yield* secrets.use(principal, settings.hmacSecretId)
        yield* rememberAccess(principal)
        // a client may have several keys; its subscription covers the accounts of all of them
        const grants = all ? yield* store.accountsOf(tenantId, client) : grantsFor(principal, settings.accounts)
        const accounts = accountsIn(grants)
        const covered = yield* store.covered(tenantId, client, all ? undefined : accounts)
        if (Option.isSome(covered)) return yield* new ChargeSubscriptionConflict(covered.value)
        const record = { id, client, doc: JSON.stringify(settings), webhookUrl: settings.webhookUrl, accounts: all ? undefined : accounts, createdAt: now }
        yield* store.insert(tenantId, record)
        // an account may have any number of bills: only what changes meanwhile is added while others wait
        yield* addInFlight(tenantId, id, settings, grants)
        yield* store.hold(tenantId, accounts)
        yield* store.removeChanged(tenantId, id)
        yield* addInFlight(tenantId, id, settings, grants)
        yield* openDestinationWithin(queue, quotas, "chargeSubscriptionsPerClient", tenantId, destinationOf(id, client, settings, "active"))
        return present(Option.getOrThrow(yield* store.find(tenantId, client, id)))
      }))
    })

    const own = Effect.fnUntraced(function*(principal: Principal, id: string) {
      yield* carriersAndCustomers(principal)
      const found = isUniqueId(id) ? yield* store.find(principal.tenantId, principal.client, id) : Option.none()
      return yield* Effect.fromOption(found, () => new ChargeSubscriptionNotFound({ subscriptionId: id }))
    })

    const get = Effect.fn("ChargeSubscriptions.get")((principal: Principal, id: string) => Effect.map(own(principal, id), present))

    const cancel = Effect.fn("ChargeSubscriptions.cancel")(function*(principal: Principal, id: string) {
      yield* own(principal, id)
      yield* transaction.run(Effect.gen(function*() {
        const cancelled = yield* store.cancel(principal.tenantId, principal.client, id)
        if (cancelled) yield* queue.closeDestination(principal.tenantId, id)
      }))
    })

    const inFlight = Effect.fn("ChargeSubscriptions.inFlight")(function*(principal: Principal, id: string) {
      yield* own(principal, id)
      // a token may have lost accounts since the client's last call; those of a key are stored with it, and a read locks nothing
      if (principal.origin === "token") yield* rememberAccess(principal)
      const { client, tenantId } = principal
      const read = (after: string | undefined) => store.inFlight(tenantId, client, id, { after, limit: billsAtATime, bytes: inFlightBytesAtATime })
      // the first page is read before the answer starts, so that a storage failure can still become an error answer
      const first = yield* read(undefined)
      const pieces = Effect.map((bills: typeof first) => [
        bills.map(({ body }) => body),
        bills.length === 0 ? Option.none() : Option.some(read(bills[bills.length - 1]!.billId))
      ] as const)
      return Stream.paginate<Effect.Effect<typeof first, StorageError>, Uint8Array, StorageError>(Effect.succeed(first), pieces)
    })

    const resume = (tenantId: string, { client, doc, id, destination }: StoredChargeSubscription) => {
      if (destination?.state !== "paused" || destination.pausedBy === "operator") return Effect.succeed(false)
      const { hmacSecretId } = JSON.parse(doc) as ChargeSubscriptionSettings
      return resumeDestination(tenantId, { client, destinationId: id, secretId: hmacSecretId, pausedSince: destination.since }, "not by operator")
    }

    const testWebhook = Effect.fn("ChargeSubscriptions.testWebhook")(function*(principal: Principal, input: unknown) {
      yield* carriersAndCustomers(principal)
      const { client, tenantId } = principal
      const request = yield* decodeTest(input)
      yield* checkReceiver(principal, request)
      yield* tests.allow(principal)
      const { hmacSecretId, webhookUrl } = request
      const date = localText(yield* Clock.currentTimeMillis, offsetAt)
      const outcome = yield* tests.send({
        tenantId,
        client,
        url: webhookUrl,
        hmacSecretId: hmacSecretId ?? secretOfClient(client),
        mustSign: hmacSecretId !== undefined,
        body: [JSON.stringify([sampleCharge(date)])]
      })
      // the same error as for a literal address, so that the test does not reveal internal host names
      if (outcome.notAllowed) return yield* InvalidInput.of(fault(["webhookUrl"], outcome.detail, "not_allowed"))
      if (!outcome.accepted) return yield* new WebhookTestFailed({ webhookUrl, detail: outcome.detail })
      const delivering = yield* store.deliveringTo(tenantId, client, webhookUrl)
      const results = yield* Effect.forEach(delivering, (stored) =>
        Effect.catchTag(resume(tenantId, stored), "SecretNotUsable", () => Effect.succeed(false)))
      const resumed = results.filter((each) => each).length
      const held = resumed > 0 ? undefined : (yield* store.deliveringTo(tenantId, client, webhookUrl)).find(({ destination }) => destination?.pausedBy === "operator")
      if (held !== undefined) {
        return yield* new SubscriptionPausedByOperator({ subscriptionId: held.id, reason: held.destination?.reason ?? "" })
      }
      const message = "Webhook test successful."
      return resumed === 0 ? { message } : { message, resumed }
    })

    return ChargeSubscriptions.of({ create, get, cancel, inFlight, testWebhook })
  }))
}

/** The accounts whose charges the grants show. */
const accountsIn = (grants: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(grants.flatMap((grant) => accountOfGrant(grant) ?? []))]

/** The grants for charges of these accounts: the accounts, or for a carrier with a number the accounts within that carrier. */
const grantsFor = (principal: Principal, accounts: ReadonlyArray<string>): ReadonlyArray<string> =>
  carrierOf(principal)?.flatMap((grant) => accounts.map((account) => accountWithin(grant, account))) ?? accounts

const decodeCreate = decodeInput(ChargeSubscriptionCreate)
const decodeTest = decodeInput(WebhookTest)
const encoder = new TextEncoder()

/** Bills per read, because an account may have any number of them. */
const billsAtATime = 200

/** Bytes of bills per read, which a response holds until its reader has taken them. */
export const inFlightBytesAtATime = 512 * 1024

/** Most accounts that an error lists. */
const maxAccountsNamed = 20

/** If the client names no secret, deliveries are signed once the operator registers a secret for the client. SPEC-GAP-E15 */
const destinationOf = (id: string, client: string, settings: ChargeSubscriptionSettings, state: DestinationState): DestinationSettings => ({
  destinationId: id,
  client,
  source: settings.frequency === "real_time" ? chargeSource : chargeWindowSource,
  endpointUrl: settings.webhookUrl,
  hmacSecretId: settings.hmacSecretId ?? secretOfClient(client),
  signing: settings.hmacSecretId === undefined ? "whenRegistered" : "required",
  whenDead: "pause",
  policy: { ...defaultPolicy, batchMaxSize: settings.frequency === "real_time" ? 100 : 1, rateLimitPerMinute: 6000 },
  envelope: { open: "[", close: "]" },
  state
})

const present = ({ cancelledAt, createdAt, doc, id, destination }: StoredChargeSubscription): ChargeSubscription => {
  const settings = JSON.parse(doc) as ChargeSubscriptionSettings
  // the destination is opened together with the subscription, but by the store's clock
  const changed = destination !== undefined && destination.since - createdAt >= 1000 ? destination.since : createdAt
  return {
    subscriptionId: id,
    ...settings,
    status: destination === undefined || destination.state === "inactive" ? "inactive" : destination.state === "paused" ? "suspended" : "active",
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(cancelledAt ?? changed)
  }
}
