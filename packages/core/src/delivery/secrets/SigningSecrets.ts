/** Registers, rotates, lists and deletes signing secrets, and checks who may use them. */
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import type { TenantNotFound } from "../../access/AccessErrors.ts"
import { qualifiedClient } from "../../access/model/Client.ts"
import type { Principal } from "../../access/model/Principal.ts"
import { Tenants } from "../../access/Tenants.ts"
import { fault } from "../../shared/Fault.ts"
import { AccountNumber, ClientIdentity, HmacSecretId } from "../../shared/Identifier.ts"
import { formatInstant, InstantText } from "../../shared/Instant.ts"
import { Count } from "../../shared/Members.ts"
import { decodeInput, InvalidInput } from "../../shared/InvalidInput.ts"
import { defaultListLimit, ListCursor, ListLimit, type ListPage, namedListPage, textsSize } from "../../shared/ListPage.ts"
import { type StorageError, Transaction } from "../../shared/StoragePort.ts"
import { RandomBytes } from "../../shared/UniqueIds.ts"
import { SecretInUse, SecretNotFound, SecretNotUsable, type SecretUnreadable } from "../DeliveryErrors.ts"
import { canonicalSecretId, clientOfSecret, ownerMissing, ownerNamed, type SecretOwner, secretUsableBy } from "../model/SecretOwner.ts"
import { formatSecret, parseSecret } from "../model/Signature.ts"
import { type Resealed, resealSecrets } from "./ResealSecrets.ts"
import { Sealer } from "./Sealer.ts"
import { type ListedSecret, maxCountedUses, SecretStore, type SealedVersion, type StoredSecret } from "./SecretStore.ts"

/**
 * Body of `PUT …/secrets/{hmacSecretId}`. `overlapSeconds`: how long the previous secret still signs after a rotation; with 0 a
 * secret whose sealing key is lost can be replaced.
 * `client`, `accounts` and `anyClient` name the owner: exactly one for a new secret, at most one later.
 */
export const SecretSettings = Schema.Struct({
  secret: Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((text: string) =>
        parseSecret(text) !== undefined || "A secret is whsec_ followed by standard base64 of 24 to 64 bytes."
      )
    )
  ),
  client: Schema.optionalKey(ClientIdentity),
  accounts: Schema.optionalKey(Schema.Array(AccountNumber).check(Schema.isMaxLength(10_000, { message: "At most 10000 accounts." }))),
  anyClient: Schema.optionalKey(Schema.Literal(true).annotate({ message: "anyClient is true, or left out." })),
  /** How long the previous secret keeps signing: 0 to 604,800. Default: a day. */
  overlapSeconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 }, { message: "overlapSeconds is an integer from 0 to 604800." }))
  ),
  /** `false`: changes only the owner and `bodySignature`. */
  rotate: Schema.optionalKey(Schema.Boolean),
  /** Deliveries that this secret signs also have the older `X-Signature`: base64 of the HMAC-SHA256 of the body. */
  bodySignature: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "SecretSettings" })

/** Body of a rotation by the secret's client. */
export const SecretRotation = Schema.Struct({
  /** How long the previous secret keeps signing: 0 to 604,800. Default: a day. */
  overlapSeconds: SecretSettings.fields.overlapSeconds
}).annotate({ identifier: "SecretRotation" })

/** A page of secrets, by hmacSecretId. */
export const SecretListQuery = Schema.Struct({ cursor: ListCursor, limit: ListLimit })

/** A secret as operators see it, without its value. Instants are UTC text. */
export const SecretView = Schema.Struct({
  hmacSecretId: Schema.String,
  client: Schema.NullOr(Schema.String.annotate({ description: "The one client that may use it, qualified: key:<name> or jwt:<issuer>:<sub>." })),
  accounts: Schema.Array(Schema.String).annotate({ description: "Clients with one of these accounts may use it. Empty if it belongs to one client or to all." }),
  anyClient: Schema.Boolean.annotate({ description: "Every client of the tenant may use it." }),
  createdAt: InstantText,
  rotatedAt: Schema.NullOr(InstantText),
  signsUntil: Schema.NullOr(InstantText).annotate({ description: "When the last older version stops signing; null if only the current one signs." }),
  usedBy: Count.annotate({ description: `Subscriptions that are signed with it. ${maxCountedUses} means that many or more.` })
}).annotate({ identifier: "Secret" })
export type SecretView = typeof SecretView.Type

const defaultOverlapSeconds = 86_400

/** Maximum number of versions that sign at once; a third rotation within the overlap ends the oldest. */
const maxLiveVersions = 3

/** The `place` that a sealed secret is bound to. */
export const placeOfSecret = (tenantId: string, hmacSecretId: string): string => `${tenantId}/${hmacSecretId}`

interface CurrentSecret {
  readonly hmacSecretId: string
  readonly secret: Redacted.Redacted
}

type WriteFailure = InvalidInput | TenantNotFound | SecretNotFound | SecretUnreadable | StorageError

/** Signing secrets of a tenant. */
export class SigningSecrets extends Context.Service<SigningSecrets, {
  /**
   * Registers or rotates a secret; generates one without `secret`. With `rotate: false` changes only the owner and `bodySignature`.
   * Returns the secret that signs from now on.
   */
  readonly put: (tenantId: string, hmacSecretId: string, input?: typeof SecretSettings.Encoded) => Effect.Effect<CurrentSecret, WriteFailure>
  /** Lists secrets by hmacSecretId. */
  readonly list: (tenantId: string, query?: typeof SecretListQuery.Encoded) => Effect.Effect<ListPage<SecretView>, InvalidInput | StorageError>
  /** Lists the caller's own secrets by hmacSecretId. */
  readonly listOwn: (principal: Principal, query?: typeof SecretListQuery.Encoded) => Effect.Effect<ListPage<SecretView>, InvalidInput | StorageError>
  /** Rotates a secret of the caller itself. Other secrets are refused like unknown ones. */
  readonly rotateOwn: (principal: Principal, hmacSecretId: string, input?: typeof SecretRotation.Encoded) => Effect.Effect<CurrentSecret, WriteFailure>
  /** Removes a secret. Fails while a subscription uses it. */
  readonly remove: (tenantId: string, hmacSecretId: string) => Effect.Effect<void, SecretNotFound | SecretInUse | StorageError>
  /** Seals every secret of the tenant with the newest sealing key, before an older key is removed. */
  readonly reseal: (tenantId: string) => Effect.Effect<Resealed, TenantNotFound | StorageError>
  /** Whether this caller may name the secret. False for unknown secrets and for those of others. */
  readonly mayName: (principal: Principal, hmacSecretId: string) => Effect.Effect<boolean, StorageError>
  /** Keeps a secret, if there is one with this id, as it is until the transaction ends. Transactions lock secrets first, then clients, then destinations. */
  readonly lock: (tenantId: string, hmacSecretId: unknown) => Effect.Effect<void, StorageError>
  /**
   * `mayName` inside the transaction that stores a subscription: until it ends, the secret keeps its owner and is not deleted.
   * Fails with the fault of an unknown secret.
   */
  readonly use: (principal: Principal, hmacSecretId: string) => Effect.Effect<void, InvalidInput | StorageError>
  /** Like `use`, by the stored access of the client, for operators who change its subscription. */
  readonly useFor: (tenantId: string, hmacSecretId: string, client: string) => Effect.Effect<void, InvalidInput | StorageError>
  /** Fails if a client, by its stored access, may not use a secret. */
  readonly checkUse: (tenantId: string, hmacSecretId: string, client: string) => Effect.Effect<void, SecretNotUsable | StorageError>
}>()("@waybill/core/delivery/SigningSecrets") {
  static readonly layer = Layer.effect(SigningSecrets, Effect.gen(function*() {
    const store = yield* SecretStore
    const sealer = yield* Sealer
    const tenants = yield* Tenants
    const transaction = yield* Transaction
    const fill = yield* RandomBytes

    const generate = () => {
      const bytes = new Uint8Array(32)
      fill(bytes)
      return formatSecret(bytes)
    }

    /**
     * Whether `secret` is the newest version. A stored version that cannot be opened fails the call, because every delivery
     * would wait as long as this version signs. Without an overlap it stops signing, so the secret can be replaced.
     */
    const isCurrent = (place: string, current: SealedVersion, secret: string, overlapSeconds: number) =>
      sealer.open(place, current.sealed).pipe(
        Effect.map((key) => formatSecret(key) === secret),
        Effect.catchTag("SecretUnreadable", (error) => overlapSeconds === 0 ? Effect.succeed(false) : Effect.fail(error))
      )

    /** The versions after a rotation to `secret`. */
    const rotated = Effect.fnUntraced(function*(place: string, stored: StoredSecret | undefined, secret: string, overlapSeconds: number, now: number) {
      const current = stored?.versions[0]
      if (current !== undefined && (yield* isCurrent(place, current, secret, overlapSeconds))) return stored!
      const overlapUntil = now + overlapSeconds * 1000
      const retired = (stored?.versions ?? []).map((version): SealedVersion => ({
        sealed: version.sealed,
        signsUntil: Math.min(version.signsUntil ?? overlapUntil, overlapUntil)
      }))
      const versions = [{ sealed: yield* sealer.seal(place, parseSecret(secret)!), signsUntil: undefined }, ...retired]
      return {
        versions: versions.slice(0, maxLiveVersions),
        createdAt: stored?.createdAt ?? now,
        rotatedAt: stored === undefined ? undefined : now
      }
    })

    const put = Effect.fn("SigningSecrets.put")(function*(tenantId: string, hmacSecretId: string, input: unknown = {}) {
      const id = canonicalSecretId(yield* decodeId(hmacSecretId, ["hmacSecretId"]))
      const settings = yield* decode(input)
      yield* checkRotate(settings)
      const named = yield* ownerFor(id, settings)
      yield* tenants.get(tenantId)
      const place = placeOfSecret(tenantId, id)
      return yield* transaction.run(Effect.gen(function*() {
        const stored = Option.getOrUndefined(yield* store.find(tenantId, id, "change"))
        const now = stored?.now ?? (yield* Clock.currentTimeMillis)
        const current = stored?.versions[0]
        const kept = settings.rotate === false
        if (kept && (stored === undefined || current === undefined)) return yield* new SecretNotFound({ hmacSecretId: id })
        const owner = named ?? stored?.owner
        if (owner === undefined) return yield* ownerMissing
        const secret = kept ? formatSecret(yield* sealer.open(place, current!.sealed)) : settings.secret ?? generate()
        const versions = kept
          ? stored!
          : yield* rotated(place, stored, secret, settings.overlapSeconds ?? defaultOverlapSeconds, now)
        yield* store.put(tenantId, id, { ...versions, owner, bodySignature: settings.bodySignature ?? stored?.bodySignature ?? false })
        return { hmacSecretId: id, secret: Redacted.make(secret) }
      }))
    })

    const pageOf = Effect.fnUntraced(function*(tenantId: string, input: unknown, owner: { readonly client?: string }) {
      const { cursor, limit = defaultListLimit } = yield* decodeQuery(input)
      return yield* namedListPage({ read: (range) => store.page(tenantId, { ...range, ...owner }), idOf: (row) => row.hmacSecretId, sizeOf: ({ owner }) => 300 + (owner._tag === "Accounts" ? textsSize(owner.accounts) : 0), shown: viewOf }, isSecretId, cursor, limit)
    })

    const list = Effect.fn("SigningSecrets.list")((tenantId: string, input: unknown = {}) => pageOf(tenantId, input, {}))

    const listOwn = Effect.fn("SigningSecrets.listOwn")(({ client, tenantId }: Principal, input: unknown = {}) => pageOf(tenantId, input, { client }))

    const rotateOwn = Effect.fn("SigningSecrets.rotateOwn")(function*({ client, tenantId }: Principal, hmacSecretId: string, input: unknown = {}) {
      const settings = yield* decodeRotation(input)
      if (!isSecretId(hmacSecretId)) return yield* new SecretNotFound({ hmacSecretId })
      const id = canonicalSecretId(hmacSecretId)
      return yield* transaction.run(Effect.gen(function*() {
        // locked until the rotation is stored, so that its owner cannot change in between
        const stored = Option.getOrUndefined(yield* store.find(tenantId, id, "change"))
        if (stored?.owner._tag !== "Client" || stored.owner.client !== client) return yield* new SecretNotFound({ hmacSecretId: id })
        return yield* put(tenantId, id, settings)
      }))
    })

    const remove = Effect.fn("SigningSecrets.remove")(function*(tenantId: string, hmacSecretId: string) {
      if (!isSecretId(hmacSecretId)) return yield* new SecretNotFound({ hmacSecretId })
      const id = canonicalSecretId(hmacSecretId)
      const removed = yield* transaction.run(store.remove(tenantId, id))
      if (removed === "unknown") return yield* new SecretNotFound({ hmacSecretId: id })
      if (removed === "used") return yield* new SecretInUse({ hmacSecretId: id })
    })

    const reseal = Effect.fn("SigningSecrets.reseal")(function*(tenantId: string) {
      yield* tenants.get(tenantId)
      return yield* resealSecrets({ store, sealer, transaction, placeOf: (id) => placeOfSecret(tenantId, id) }, tenantId)
    })

    const isFor = (principal: Principal, stored: Option.Option<StoredSecret>): boolean =>
      Option.isSome(stored) && secretUsableBy(stored.value.owner, principal)

    const mayName = Effect.fn("SigningSecrets.mayName")((principal: Principal, hmacSecretId: string) =>
      Effect.map(store.find(principal.tenantId, hmacSecretId), (stored) => isFor(principal, stored)))

    const lock = Effect.fn("SigningSecrets.lock")((tenantId: string, id: unknown) =>
      typeof id === "string" && isSecretId(id) ? Effect.asVoid(store.find(tenantId, canonicalSecretId(id), "use")) : Effect.void)

    const use = Effect.fn("SigningSecrets.use")(function*(principal: Principal, hmacSecretId: string) {
      const stored = yield* store.find(principal.tenantId, hmacSecretId, "use")
      if (!isFor(principal, stored)) return yield* unknownSecret(hmacSecretId)
    })

    const useFor = Effect.fn("SigningSecrets.useFor")(function*(tenantId: string, hmacSecretId: string, client: string) {
      // locked first: what is read afterwards stays true until the transaction ends
      yield* store.find(tenantId, hmacSecretId, "use")
      if (!(yield* store.usableBy(tenantId, hmacSecretId, qualifiedClient(client)))) return yield* secretOfAnother(hmacSecretId, client)
    })

    const checkUse = Effect.fn("SigningSecrets.checkUse")(function*(tenantId: string, hmacSecretId: string, client: string) {
      const usable = yield* store.usableBy(tenantId, hmacSecretId, qualifiedClient(client))
      if (!usable) return yield* new SecretNotUsable({ hmacSecretId, client })
    })

    return SigningSecrets.of({ put, list, listOwn, rotateOwn, remove, reseal, mayName, lock, use, useFor, checkUse })
  }))
}

const decodeId = decodeInput(HmacSecretId)
const isSecretId: (text: string) => boolean = Schema.is(HmacSecretId)
const decode = decodeInput(SecretSettings, { closed: true })
const decodeRotation = decodeInput(SecretRotation, { closed: true })
const decodeQuery = decodeInput(SecretListQuery, { closed: true })

/** Refuses settings of a rotation in a call that does not rotate. */
const checkRotate = ({ overlapSeconds, rotate, secret }: typeof SecretSettings.Type): Effect.Effect<void, InvalidInput> => {
  if (rotate !== false) return Effect.void
  const refused = (member: string) => Effect.fail(InvalidInput.of(fault([member], `${member} cannot be given with rotate: false.`, "conflict")))
  if (secret !== undefined) return refused("secret")
  return overlapSeconds === undefined ? Effect.void : refused("overlapSeconds")
}

/** The owner by the call, or by an id of the form `client:<name>`; `undefined`: no change. */
const ownerFor = (id: string, settings: typeof SecretSettings.Type): Effect.Effect<SecretOwner | undefined, InvalidInput> =>
  Effect.flatMap(Effect.fromResult(ownerNamed(settings)), (named) => {
    const client = clientOfSecret(id)
    if (client === undefined) return Effect.succeed(named)
    return named === undefined || named._tag === "Client" && named.client === client
      ? Effect.succeed({ _tag: "Client", client } as const)
      : Effect.fail(InvalidInput.of(fault([], `Secret ${id} belongs to the client that it is called after. Leave client, accounts and anyClient out.`, "conflict")))
  })

const viewOf = ({ createdAt, hmacSecretId, owner, rotatedAt, signsUntil, usedBy }: ListedSecret): SecretView => ({
  hmacSecretId,
  client: owner._tag === "Client" ? owner.client : null,
  accounts: owner._tag === "Accounts" ? owner.accounts : [],
  anyClient: owner._tag === "AnyClient",
  createdAt: formatInstant(createdAt),
  rotatedAt: rotatedAt === undefined ? null : formatInstant(rotatedAt),
  signsUntil: signsUntil === undefined ? null : formatInstant(signsUntil),
  usedBy
})

/** The fault of a secret that a client may not use, for operators. */
export const secretOfAnother = (hmacSecretId: string, client: string): InvalidInput =>
  InvalidInput.of(fault(["hmacSecretId"], `No secret ${hmacSecretId} is registered for ${client}. Register it, or give it to this client.`, "unknown_reference"))

/** The fault of a secret that does not exist or that the caller may not use. SPEC-GAP-D20 */
export const unknownSecret = (hmacSecretId: string): InvalidInput =>
  InvalidInput.of(
    fault(["hmacSecretId"], `No secret ${hmacSecretId} is registered for you. Ask the operator to register it.`, "unknown_reference")
  )
