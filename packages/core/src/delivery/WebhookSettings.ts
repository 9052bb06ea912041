/** Checks of a subscription's settings that need the caller, this deployment or several members together. */
import { Effect } from "effect"
import type { Principal } from "../access/model/Principal.ts"
import { fault, type Fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { isObject, maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import { contradictionIn, type DeliveryMetadata, policyOf } from "./model/DeliveryPolicy.ts"
import { secretOfAnother, SigningSecrets, unknownSecret } from "./SigningSecrets.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { WebhookSender } from "./WebhookSender.ts"

export interface WebhookSettings {
  readonly endpointUrl: string
  readonly hmacSecretId: string
  readonly delivery?: typeof DeliveryMetadata.Type
}

/** Who changes a subscription: its client, or an operator on its behalf. What is allowed is decided by the client in both cases. */
export interface SettingsEditor {
  readonly tenantId: string
  /** Of the subscription. */
  readonly client: string
  /** Runs first in the transaction that changes the subscription. */
  readonly begin: Effect.Effect<void, StorageError>
  /** The faults of naming a secret that does not exist, or not for the subscription's client. */
  readonly secretFaults: (hmacSecretId: string) => Effect.Effect<ReadonlyArray<Fault>, StorageError>
  /** The same inside the transaction: until it ends, the secret is neither deleted nor given to somebody else. */
  readonly useSecret: (hmacSecretId: string) => Effect.Effect<void, InvalidInput | StorageError>
}

export const makeWebhookChecks = Effect.gen(function*() {
  const secrets = yield* SigningSecrets
  const sender = yield* WebhookSender

  /** The subscription's own client. */
  const ownEditor = (principal: Principal, begin: SettingsEditor["begin"]): SettingsEditor => ({
    tenantId: principal.tenantId,
    client: principal.client,
    begin,
    secretFaults: (id) => Effect.map(secrets.mayName(principal, id), (isKnown) => isKnown ? [] : unknownSecret(id).faults),
    useSecret: (id) => secrets.use(principal, id)
  })

  const operatorEditor = (tenantId: string, client: string): SettingsEditor => ({
    tenantId,
    client,
    begin: Effect.void,
    secretFaults: (id) =>
      secrets.checkUse(tenantId, id, client).pipe(
        Effect.as<ReadonlyArray<Fault>>([]),
        Effect.catchTag("SecretNotUsable", () => Effect.succeed(secretOfAnother(id, client).faults))
      ),
    useSecret: (id) => secrets.useFor(tenantId, id, client)
  })

  const checkSettings = Effect.fnUntraced(function*(
    { secretFaults }: Pick<SettingsEditor, "secretFaults">,
    settings: WebhookSettings,
    changed: { readonly endpointUrl: boolean; readonly hmacSecretId: boolean }
  ) {
    const refusal = changed.endpointUrl ? sender.refusal(settings.endpointUrl) : undefined
    const contradiction = contradictionIn(policyOf(settings.delivery))
    const faults = [
      ...(refusal === undefined ? [] : [fault(["endpointUrl"], refusal, "not_allowed")]),
      ...(contradiction === undefined ? [] : [fault(["delivery", "maxBackoffSeconds"], contradiction, "out_of_bounds")]),
      ...(changed.hmacSecretId ? yield* secretFaults(settings.hmacSecretId) : [])
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

  return { ownEditor, operatorEditor, checkSettings, alsoRefused }
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
