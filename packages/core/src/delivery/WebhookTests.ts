/** Sends a test to a receiver, with the signature, deadline and address check of a delivery. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { Principal } from "../access/model/Principal.ts"
import { ClientLimiter } from "../shared/ClientLimiter.ts"
import { monotonicMillis } from "../shared/MonotonicTime.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { UniqueIds } from "../shared/UniqueIds.ts"
import { TooManyWebhookTests } from "./DeliveryErrors.ts"
import { DeliveryOptions } from "./DeliveryOptions.ts"
import { Hmac } from "./secrets/Hmac.ts"
import type { RequestBody } from "./model/RequestBody.ts"
import { requestHeaders } from "./model/Signature.ts"
import { Sealer } from "./secrets/Sealer.ts"
import { SecretStore } from "./secrets/SecretStore.ts"
import { placeOfSecret } from "./secrets/SigningSecrets.ts"
import { addressNotAllowed, requestOwner, sendWebhook, WebhookSender } from "./WebhookSender.ts"

/** Tests per client and minute in one process. SPEC-GAP-E18 */
const testsPerMinute = 10

/** A test to send. */
export interface WebhookTestRequest {
  readonly tenantId: string
  readonly client: string
  readonly url: string
  readonly hmacSecretId: string
  /** Whether a missing secret is an error. Otherwise the test is sent unsigned. */
  readonly mustSign: boolean
  readonly body: RequestBody
}

/** The result of a test. */
export interface WebhookTestOutcome {
  readonly accepted: boolean
  /** The receiver's HTTP status, if it answered. */
  readonly status: number | undefined
  /** Webhooks may not reach the address, or it does not exist. One outcome for both, so that a test does not reveal which internal names exist. */
  readonly notAllowed: boolean
  /** One sentence for the subscription's owner. */
  readonly detail: string
}

/** Tests of the receivers of a client. */
export class WebhookTests extends Context.Service<WebhookTests, {
  /** Counts one test of the client, or fails beyond 10 in a minute, so that tests cannot be used to send many requests to others. */
  readonly allow: (principal: Principal) => Effect.Effect<void, TooManyWebhookTests>
  /** Sends the test; every failure at the receiver is an outcome. */
  readonly send: (request: WebhookTestRequest) => Effect.Effect<WebhookTestOutcome, StorageError>
}>()("@waybill/core/delivery/WebhookTests") {
  static readonly layer = Layer.effect(WebhookTests, Effect.gen(function*() {
    const secrets = yield* SecretStore
    const sealer = yield* Sealer
    const hmac = yield* Hmac
    const sender = yield* WebhookSender
    const ids = yield* UniqueIds
    const { attemptTimeoutMillis } = yield* DeliveryOptions
    const limiter = new ClientLimiter(testsPerMinute)

    const allow = Effect.fn("WebhookTests.allow")(function*(principal: Principal) {
      const waitMillis = limiter.admit(principal, yield* monotonicMillis)
      if (waitMillis > 0) return yield* new TooManyWebhookTests({ limit: testsPerMinute, retryAfterSeconds: Math.ceil(waitMillis / 1000) })
    })

    const send = Effect.fn("WebhookTests.send")(function*({ body, client, hmacSecretId, mustSign, tenantId, url }: WebhookTestRequest) {
      const stored = Option.getOrUndefined(yield* secrets.find(tenantId, hmacSecretId))
      // as for deliveries: receivers refuse a signed time that differs by minutes, and the clock of this process may be wrong
      const now = stored?.now ?? (yield* Clock.currentTimeMillis)
      const deliveryId = ids.nextAt(now)
      const keys = yield* Effect.forEach(stored?.versions ?? [], ({ sealed }) => sealer.open(placeOfSecret(tenantId, hmacSecretId), sealed)).pipe(
        Effect.catchTag("SecretUnreadable", (error) => Effect.as(Effect.logError(error.message), undefined))
      )
      if (keys === undefined || mustSign && keys.length === 0) return refused("The signing secret cannot be read. Ask the operator to register it again.")
      const content = { deliveryId, timestampSeconds: Math.floor(now / 1000), body }
      const outcome = yield* sendWebhook(sender, {
        owner: requestOwner(tenantId, client),
        url,
        headers: requestHeaders(hmac.sha256, keys, content, stored?.bodySignature === true),
        body,
        deadlineMillis: attemptTimeoutMillis
      })
      switch (outcome._tag) {
        case "Accepted":
          return { accepted: true, status: outcome.status, notAllowed: false, detail: `The receiver answered ${outcome.status}.` }
        case "Failed":
          return outcome.failure === "dns" || outcome.failure === "address_not_allowed"
            ? { ...refused(addressNotAllowed), notAllowed: true }
            : { ...refused(outcome.detail), status: outcome.status }
        case "Gone":
          return { ...refused("The receiver answered 410 Gone."), status: outcome.status }
        case "Interrupted":
          return refused(outcome.unsent ?? "The test was interrupted. Try again.")
      }
    })

    return WebhookTests.of({ allow, send })
  }))
}

const refused = (detail: string): WebhookTestOutcome => ({ accepted: false, status: undefined, notAllowed: false, detail })
