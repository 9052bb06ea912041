/** Checks of a subscription's settings that need the caller, this deployment or several members together. */
import { Effect, Result } from "effect"
import type { Principal } from "../access/model/Principal.ts"
import { contradictionIn, type DeliveryMetadata, policyOf } from "../delivery/model/DeliveryPolicy.ts"
import { secretOfAnother, SigningSecrets, unknownSecret } from "../delivery/secrets/SigningSecrets.ts"
import { WebhookSender } from "../delivery/WebhookSender.ts"
import { fault, type Fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { isObject, maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import type { StorageError } from "../shared/StoragePort.ts"

export interface WebhookSettings {
  readonly endpointUrl: string
  readonly hmacSecretId: string
  readonly delivery?: typeof DeliveryMetadata.Type
}

/** Who changes a subscription: its client, or an operator on its behalf. The client decides what is allowed in both cases. */
export interface SettingsEditor {
  readonly tenantId: string
  /** Of the subscription. */
  readonly client: string
  /** Runs first in the transaction that changes the subscription. */
  readonly begin: Effect.Effect<void, StorageError>
  /** The faults of naming a secret that does not exist, or not for the subscription's client. */
  readonly secretFaults: (hmacSecretId: string) => Effect.Effect<ReadonlyArray<Fault>, StorageError>
  /** Locks a secret, if there is one with this id: secrets first, then clients, then destinations. */
  readonly lockSecret: (hmacSecretId: unknown) => Effect.Effect<void, StorageError>
  /** The same inside the transaction: until it ends, the secret is neither deleted nor given to somebody else. */
  readonly useSecret: (hmacSecretId: string) => Effect.Effect<void, InvalidInput | StorageError>
}

/** Where a subscription delivers to. `member` is the interface's name of the address. */
export interface Receiver {
  readonly member: "endpointUrl" | "webhookUrl"
  readonly url: string | undefined
  readonly hmacSecretId: string | undefined
}

export const makeWebhookChecks = Effect.gen(function*() {
  const secrets = yield* SigningSecrets
  const sender = yield* WebhookSender

  const addressFaults = (member: string, url: string | undefined): ReadonlyArray<Fault> => {
    const refusal = url === undefined ? undefined : sender.refusal(url)
    return refusal === undefined ? [] : [fault([member], refusal, "not_allowed")]
  }

  const secretFaults = (principal: Principal, id: string): Effect.Effect<ReadonlyArray<Fault>, StorageError> =>
    Effect.map(secrets.mayName(principal, id), (isKnown) => isKnown ? [] : unknownSecret(id).faults)

  /** The faults of an address that this deployment does not send to, and of a secret that the caller may not use. */
  const receiverFaults = Effect.fnUntraced(function*(principal: Principal, { hmacSecretId, member, url }: Receiver) {
    return [...addressFaults(member, url), ...(hmacSecretId === undefined ? [] : yield* secretFaults(principal, hmacSecretId))]
  })

  /** Decodes a request and checks its receiver, which it does even if other members are malformed: one error lists all faults. */
  const readRequest = Effect.fnUntraced(function*<A>(
    principal: Principal,
    member: Receiver["member"],
    input: unknown,
    decode: (input: unknown) => Effect.Effect<A, InvalidInput>,
    moreFaults: (request: A) => ReadonlyArray<Fault> = () => []
  ) {
    const decoded = yield* Effect.result(decode(input))
    const found = Result.isFailure(decoded) ? decoded.failure.faults : moreFaults(decoded.success)
    const wellFormed = (name: string): string | undefined => {
      const value = isObject(input) && !found.some(({ pointer }) => pointer === `/${name}`) ? input[name] : undefined
      return typeof value === "string" ? value : undefined
    }
    yield* InvalidInput.ifAny([...found, ...yield* receiverFaults(principal, { member, url: wellFormed(member), hmacSecretId: wellFormed("hmacSecretId") })])
    return yield* Effect.fromResult(decoded)
  })

  /** The subscription's own client. */
  const ownEditor = (principal: Principal, begin: SettingsEditor["begin"]): SettingsEditor => ({
    tenantId: principal.tenantId,
    client: principal.client,
    begin,
    secretFaults: (id) => secretFaults(principal, id),
    lockSecret: (id) => secrets.lock(principal.tenantId, id),
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
    lockSecret: (id) => secrets.lock(tenantId, id),
    useSecret: (id) => secrets.useFor(tenantId, id, client)
  })

  const checkSettings = Effect.fnUntraced(function*(
    editor: Pick<SettingsEditor, "secretFaults">,
    settings: WebhookSettings,
    changed: { readonly endpointUrl: boolean; readonly hmacSecretId: boolean }
  ) {
    yield* InvalidInput.ifAny([
      ...(changed.endpointUrl ? addressFaults("endpointUrl", settings.endpointUrl) : []),
      ...contradictionsIn(settings),
      ...(changed.hmacSecretId ? yield* editor.secretFaults(settings.hmacSecretId) : [])
    ])
  })

  return { checkSettings, operatorEditor, ownEditor, readRequest, receiverFaults }
})

/** The faults of members that each are valid, but not together. */
export const contradictionsIn = ({ delivery }: Pick<WebhookSettings, "delivery">): ReadonlyArray<Fault> => {
  const contradiction = contradictionIn(policyOf(delivery))
  return contradiction === undefined ? [] : [fault(["delivery", "maxBackoffSeconds"], contradiction, "out_of_bounds")]
}

/** SPEC-GAP-D10: a merge patch may name only known members. The merged result is validated as a whole. */
export const checkPatch = (input: unknown, decodePatch: (input: unknown) => Effect.Effect<unknown, InvalidInput>): Effect.Effect<void, InvalidInput> => {
  if (!isObject(input)) return Effect.fail(InvalidInput.of(fault([], "A merge patch is a JSON object.")))
  if (nestsDeeperThan(input, maxDepth)) return Effect.fail(InvalidInput.of(fault([], "The patch nests too deep.", "out_of_bounds")))
  return Effect.asVoid(decodePatch(input))
}

/** Stopping is always allowed. For any other patch, the client must own the secret that signs afterwards. */
export const onlyStops = (patch: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(patch).every((member) => member === "status") && patch["status"] !== "active"
