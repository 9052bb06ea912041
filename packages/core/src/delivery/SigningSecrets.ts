/** Register, rotate and look up the secrets that webhooks are signed with. */
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import * as Clock from "effect/Clock"
import type { TenantNotFound } from "../access/AccessErrors.ts"
import type { Principal } from "../access/model/Principal.ts"
import { Tenants } from "../access/Tenants.ts"
import { fault } from "../shared/Fault.ts"
import { AccountNumber, HmacSecretId } from "../shared/Identifier.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { Transaction } from "../shared/Transaction.ts"
import { RandomBytes } from "../shared/UniqueIds.ts"
import type { SecretUnreadable } from "./DeliveryErrors.ts"
import { formatSecret, parseSecret } from "./model/Signature.ts"
import { Sealer } from "./Sealer.ts"
import { SecretStore, type SealedVersion } from "./SecretStore.ts"

/** Body of `PUT …/secrets/{hmacSecretId}`. `overlapSeconds`: how long the secret before goes on signing after a rotation. */
export const SecretSettings = Schema.Struct({
  secret: Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((text: string) =>
        parseSecret(text) !== undefined || "A secret is whsec_ followed by standard base64 of 24 to 64 bytes."
      )
    )
  ),
  accounts: Schema.optionalKey(Schema.Array(AccountNumber).check(Schema.isMaxLength(10_000, { message: "At most 10000 accounts." }))),
  overlapSeconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 }, { message: "overlapSeconds is an integer from 0 to 604800." }))
  ),
  /** Deliveries signed with this secret also carry the older `X-Signature`: base64 HMAC-SHA256 of the bare body. */
  bodySignature: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "SecretSettings" })

const defaultOverlapSeconds = 86_400

/** At most this many versions sign at once; a third rotation within the overlap retires the oldest. */
const maxLiveVersions = 3

const ofClient = "client:"

/** The secret that signs for a client which names none itself. Nobody else may name it, whatever they are called. SPEC-GAP-X3 */
export const secretOfClient = (client: string): string => `${ofClient}${client}`

/** Where a sealed secret belongs. */
export const placeOfSecret = (tenantId: string, hmacSecretId: string): string => `${tenantId}/${hmacSecretId}`

export class SigningSecrets extends Context.Service<SigningSecrets, {
  /** Registers or rotates; without `secret` one is generated. Answers the secret that signs from now on. */
  readonly put: (
    tenantId: string,
    hmacSecretId: string,
    input: unknown
  ) => Effect.Effect<
    { readonly hmacSecretId: string; readonly secret: Redacted.Redacted },
    InvalidInput | TenantNotFound | SecretUnreadable | StorageError
  >
  /** Whether this caller may name the secret. A secret bound to other accounts answers like an unknown one. */
  readonly mayName: (principal: Principal, hmacSecretId: string) => Effect.Effect<boolean, StorageError>
}>()("@waybill/core/delivery/SigningSecrets") {
  static readonly layer = Layer.effect(
    SigningSecrets,
    Effect.gen(function*() {
      const store = yield* SecretStore
      const sealer = yield* Sealer
      const tenants = yield* Tenants
      const transaction = yield* Transaction
      const fill = yield* RandomBytes
      const decodeId = decodeInput(HmacSecretId)
      const decode = decodeInput(SecretSettings, { closed: true })

      const generate = () => {
        const bytes = new Uint8Array(32)
        fill(bytes)
        return formatSecret(bytes)
      }

      const put = Effect.fn("SigningSecrets.put")(function*(tenantId: string, hmacSecretId: string, input: unknown) {
        const id = yield* decodeId(hmacSecretId, ["hmacSecretId"])
        const settings = yield* decode(input)
        yield* tenants.get(tenantId)
        const secret = settings.secret ?? generate()
        const place = placeOfSecret(tenantId, id)
        yield* transaction.run(Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const stored = Option.getOrUndefined(yield* store.findForUpdate(tenantId, id))
          const current = stored?.versions[0]
          const unchanged = current !== undefined &&
            formatSecret(yield* sealer.open(place, current.sealed)) === secret
          const overlapUntil = now + (settings.overlapSeconds ?? defaultOverlapSeconds) * 1000
          const retired = (stored?.versions ?? []).map((version): SealedVersion => ({
            sealed: version.sealed,
            signsUntil: Math.min(version.signsUntil ?? overlapUntil, overlapUntil)
          }))
          const versions = unchanged
            ? stored!.versions
            : [{ sealed: yield* sealer.seal(place, parseSecret(secret)!), signsUntil: undefined }, ...retired]
          yield* store.put(tenantId, id, {
            versions: versions.slice(0, maxLiveVersions),
            accounts: settings.accounts ?? stored?.accounts ?? [],
            bodySignature: settings.bodySignature ?? stored?.bodySignature ?? false
          })
        }))
        return { hmacSecretId: id, secret: Redacted.make(secret) }
      })

      const mayName = Effect.fn("SigningSecrets.mayName")(function*(principal: Principal, hmacSecretId: string) {
        if (hmacSecretId.startsWith(ofClient) && hmacSecretId !== secretOfClient(principal.client)) return false
        const stored = Option.getOrUndefined(yield* store.find(principal.tenantId, hmacSecretId))
        if (stored === undefined) return false
        return stored.accounts.length === 0 || stored.accounts.some((account) => principal.accounts.includes(account))
      })

      return SigningSecrets.of({ put, mayName })
    })
  )
}

/** The fault of naming a secret that does not exist, or not for this caller. SPEC-GAP-D20 */
export const unknownSecret = (hmacSecretId: string): InvalidInput =>
  InvalidInput.of(
    fault(["hmacSecretId"], `No secret ${hmacSecretId} is registered for you. Ask the operator to register it.`, "unknown_reference")
  )
