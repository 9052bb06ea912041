/** Checks of a subscription's settings that need the caller, this deployment or several members together. */
import { Effect } from "effect"
import type { Principal } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { isObject, maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import { contradictionIn, type DeliveryMetadata, policyOf } from "./model/DeliveryPolicy.ts"
import { SigningSecrets, unknownSecret } from "./SigningSecrets.ts"
import { WebhookSender } from "./WebhookSender.ts"

export interface WebhookSettings {
  readonly endpointUrl: string
  readonly hmacSecretId: string
  readonly delivery?: typeof DeliveryMetadata.Type
}

export const makeWebhookChecks = Effect.gen(function*() {
  const secrets = yield* SigningSecrets
  const sender = yield* WebhookSender

  const checkSettings = Effect.fnUntraced(function*(
    principal: Principal,
    settings: WebhookSettings,
    changed: { readonly endpointUrl: boolean; readonly hmacSecretId: boolean }
  ) {
    const refusal = changed.endpointUrl ? sender.refusal(settings.endpointUrl) : undefined
    const contradiction = contradictionIn(policyOf(settings.delivery))
    const faults = [
      ...(refusal === undefined ? [] : [fault(["endpointUrl"], refusal, "not_allowed")]),
      ...(contradiction === undefined ? [] : [fault(["delivery", "maxBackoffSeconds"], contradiction, "out_of_bounds")]),
      ...(changed.hmacSecretId && !(yield* secrets.mayName(principal, settings.hmacSecretId))
        ? unknownSecret(settings.hmacSecretId).faults
        : [])
    ]
    if (faults.length > 0) return yield* new InvalidInput({ faults })
  })

  /** Checks a well-formed address and secret even if other members are malformed, so that one error lists all faults. */
  const alsoRefused = Effect.fnUntraced(function*(principal: Principal, input: unknown, refused: InvalidInput) {
    const { endpointUrl, hmacSecretId } = isObject(input) ? input : {}
    const wellFormed = (member: string, value: unknown): value is string =>
      typeof value === "string" && !refused.faults.some((each) => each.pointer === `/${member}`)
    const refusal = wellFormed("endpointUrl", endpointUrl) ? sender.refusal(endpointUrl) : undefined
    return yield* new InvalidInput({
      faults: [
        ...refused.faults,
        ...(refusal === undefined ? [] : [fault(["endpointUrl"], refusal, "not_allowed")]),
        ...(wellFormed("hmacSecretId", hmacSecretId) && !(yield* secrets.mayName(principal, hmacSecretId))
          ? unknownSecret(hmacSecretId).faults
          : [])
      ]
    })
  })

  return { checkSettings, alsoRefused }
})

/** SPEC-GAP-D10: a merge patch may name only known members. The merged result is validated as a whole. */
export const checkPatch = (input: unknown, decodePatch: (input: unknown) => Effect.Effect<unknown, InvalidInput>): Effect.Effect<void, InvalidInput> => {
  if (!isObject(input)) return Effect.fail(InvalidInput.of(fault([], "A merge patch is a JSON object.")))
  if (nestsDeeperThan(input, maxDepth)) return Effect.fail(InvalidInput.of(fault([], "The patch nests too deep.", "out_of_bounds")))
  return Effect.asVoid(decodePatch(input))
}

/** Stopping is always allowed. For any other patch, the client must own the secret that signs afterwards. */
export const onlyStops = (patch: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(patch).every((member) => member === "status") && patch["status"] !== "active"
