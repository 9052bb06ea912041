/** Tests a receiver with one sample notification that is sent and signed like a delivery. */
import { Effect, Option } from "effect"
import * as Clock from "effect/Clock"
import { TooManyCalls } from "../access/AccessErrors.ts"
import type { Principal } from "../access/model/Principal.ts"
import type { Hmac } from "../delivery/Hmac.ts"
import type { RequestBody } from "../delivery/model/RequestBody.ts"
import { bodySignatureHeader, signatureHeader } from "../delivery/model/Signature.ts"
import type { Sealer } from "../delivery/Sealer.ts"
import type { SecretStore } from "../delivery/SecretStore.ts"
import { placeOfSecret } from "../delivery/SigningSecrets.ts"
import { addressNotAllowed, type WebhookSender } from "../delivery/WebhookSender.ts"
import { SlidingWindowLimiter } from "../shared/SlidingWindowLimiter.ts"
import { RecentMap } from "../shared/RecentMap.ts"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { UniqueIds } from "../shared/UniqueIds.ts"
import { WebhookTestFailed } from "./FreightChargeErrors.ts"
import { sampleCharge } from "./model/SampleCharge.ts"

/** Tests per client and minute, in one process. SPEC-GAP-E18 */
export const testsPerMinute = 10

/** Most clients whose recent tests are remembered. Beyond that the least recent client is removed. */
const maxClients = 10_000

export interface WebhookTestRequest {
  readonly tenantId: string
  readonly webhookUrl: string
  readonly hmacSecretId: string
  /** Whether a missing secret is an error. Otherwise the test is sent unsigned. */
  readonly mustSign: boolean
  /** Date in the sample. */
  readonly date: string
}

/** Sends the sample. Fails when the receiver does not accept it. */
export const makeWebhookTest = (services: {
  readonly secrets: SecretStore["Service"]
  readonly sealer: Sealer["Service"]
  readonly hmac: Hmac["Service"]
  readonly sender: WebhookSender["Service"]
  readonly ids: UniqueIds["Service"]
  readonly timeoutMillis: number
}) => {
  const { hmac, ids, sealer, secrets, sender, timeoutMillis } = services

  const signatures = Effect.fnUntraced(function*(request: WebhookTestRequest, deliveryId: string, body: RequestBody, now: number) {
    const { hmacSecretId, tenantId } = request
    const stored = Option.getOrUndefined(yield* secrets.find(tenantId, hmacSecretId))
    const live = (stored?.versions ?? []).filter((version) => version.signsUntil === undefined || version.signsUntil > now)
    const keys = yield* Effect.forEach(live, (version) => sealer.open(placeOfSecret(tenantId, hmacSecretId), version.sealed))
    if (keys.length === 0) return request.mustSign ? yield* unsignable(request) : {}
    const timestampSeconds = Math.floor(now / 1000)
    return {
      "webhook-signature": signatureHeader(hmac.sha256, keys, { deliveryId, timestampSeconds, body }),
      ...(stored?.bodySignature === true ? { "x-signature": bodySignatureHeader(hmac.sha256, keys[0]!, body) } : {})
    }
  })

  return Effect.fnUntraced(function*(request: WebhookTestRequest) {
    const now = yield* Clock.currentTimeMillis
    const deliveryId = ids.nextAt(now)
    const body = [JSON.stringify([sampleCharge(request.date)])]
    const signed = yield* signatures(request, deliveryId, body, now).pipe(
      Effect.catchTag("SecretUnreadable", (error) => Effect.andThen(Effect.logError(error.message), unsignable(request)))
    )
    const outcome = yield* sender.send({
      url: request.webhookUrl,
      headers: {
        "content-type": "application/json",
        "webhook-id": deliveryId,
        "webhook-timestamp": String(Math.floor(now / 1000)),
        ...signed
      },
      body,
      deadlineMillis: timeoutMillis
    })
    switch (outcome._tag) {
      case "Accepted":
        return
      case "Failed":
        // the same error as for a literal address, so that the test does not reveal internal host names
        if (outcome.failure === "dns" || outcome.failure === "address_not_allowed") {
          return yield* InvalidInput.of(fault(["webhookUrl"], addressNotAllowed, "not_allowed"))
        }
        return yield* new WebhookTestFailed({ webhookUrl: request.webhookUrl, detail: outcome.detail })
      case "Gone":
        return yield* new WebhookTestFailed({ webhookUrl: request.webhookUrl, detail: "The receiver answered 410 Gone." })
      case "Interrupted":
        return yield* new WebhookTestFailed({ webhookUrl: request.webhookUrl, detail: "The test was interrupted. Try again." })
    }
  })
}

const unsignable = ({ webhookUrl }: WebhookTestRequest) =>
  Effect.fail(new WebhookTestFailed({ webhookUrl, detail: "The signing secret cannot be read. Ask the operator to register it again." }))

/** Limits the tests of each client. Without a limit, the test could send requests anywhere. */
export const makeWebhookTestLimiter = () => {
  const logs = new RecentMap<SlidingWindowLimiter>(maxClients)
  return Effect.fnUntraced(function*({ client, tenantId }: Principal) {
    const now = yield* Clock.currentTimeMillis
    const name = JSON.stringify([tenantId, client])
    const log = logs.get(name) ?? new SlidingWindowLimiter()
    logs.put(name, log)
    const waitMillis = log.admit(testsPerMinute, now)
    if (waitMillis > 0) return yield* new TooManyCalls({ retryAfterSeconds: Math.ceil(waitMillis / 1000) })
  })
}
