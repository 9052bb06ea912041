/** Who may open a portal by a link: checks the request for a link, and the client of a link at every call. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { ClientNotFound, type TenantNotFound, type TenantSuspended, Unauthenticated } from "../access/AccessErrors.ts"
import { AccessStore } from "../access/AccessStore.ts"
import { clientNamed } from "../access/model/Client.ts"
import type { Principal } from "../access/model/Principal.ts"
import { makeTenantAdmission } from "../access/TenantAdmission.ts"
import { Tenants } from "../access/Tenants.ts"
import { Sealer } from "../delivery/secrets/Sealer.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { defaultLinkSeconds, PortalLinkRequest, type PortalTheme } from "./model/PortalLink.ts"

/** The contents of a link, signed in its token. */
export interface PortalGrant {
  readonly tenantId: string
  /** Qualified. */
  readonly client: string
  /** Epoch milliseconds, at a full second. */
  readonly issuedAt: number
  readonly expiresAt: number
  readonly theme: PortalTheme
}

/** Grants access to the portal by links, and checks it at every call. */
export class PortalAccess extends Context.Service<PortalAccess, {
  /** The keys that tokens are signed with, derived from the sealing keys: the first one signs, all of them verify. */
  readonly tokenKeys: ReadonlyArray<Uint8Array>
  /** The grant for a new link. The client has to exist, and need not have access now. */
  readonly grant: (
    tenantId: string,
    input: typeof PortalLinkRequest.Encoded
  ) => Effect.Effect<PortalGrant, InvalidInput | TenantNotFound | ClientNotFound | StorageError>
  /**
   * The caller of a link's portal, with the access that its client has now: refused while the client is held or after it was removed. It
   * sees no freight.
   */
  readonly principalOf: (grant: Pick<PortalGrant, "client" | "tenantId">) => Effect.Effect<Principal, Unauthenticated | TenantSuspended | StorageError>
  /** The caller of a portal whose host has authenticated it: refused while the tenant is suspended. `client`: bare or qualified. */
  readonly customerOf: (tenantId: string, client: string) => Effect.Effect<Principal, Unauthenticated | TenantSuspended | StorageError>
}>()("@waybill/core/portal/PortalAccess") {
  static readonly layer = Layer.effect(PortalAccess, Effect.gen(function*() {
    const store = yield* AccessStore
    const tenants = yield* Tenants
    const admit = yield* makeTenantAdmission
    const tokenKeys = yield* (yield* Sealer).deriveKeys("waybill portal link v1")

    const grant = Effect.fn("PortalAccess.grant")(function*(tenantId: string, input: unknown) {
      const { client: named, expiresInSeconds = defaultLinkSeconds, theme = {} } = yield* decode(input)
      yield* tenants.get(tenantId)
      const client = clientNamed(named)
      if (client === undefined || (yield* store.findClientState(tenantId, client)) === undefined) return yield* new ClientNotFound({ client: named })
      const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000) * 1000
      return { tenantId, client, issuedAt, expiresAt: issuedAt + expiresInSeconds * 1000, theme }
    })

    const principalOf = Effect.fn("PortalAccess.principalOf")(function*({ client, tenantId }: Pick<PortalGrant, "client" | "tenantId">) {
      if (Option.isNone(yield* admit(tenantId, client))) return yield* refused("portal link of an unknown tenant")
      if ((yield* store.findClientState(tenantId, client)) !== "live") return yield* refused("portal link of a client without access")
      return customer(tenantId, client)
    })

    const customerOf = Effect.fn("PortalAccess.customerOf")(function*(tenantId: string, named: string) {
      const client = clientNamed(named)
      if (client === undefined) return yield* Effect.die(new TypeError("client is a name of 1 to 200 printable characters, or jwt:<issuer>:<sub>."))
      if (Option.isNone(yield* admit(tenantId, client))) return yield* refused("portal of an unknown tenant")
      return customer(tenantId, client)
    })

    return PortalAccess.of({ tokenKeys, grant, principalOf, customerOf })
  }))
}

/** A portal shows no freight, so its caller has no accounts. */
const customer = (tenantId: string, client: string): Principal => ({ tenantId, client, roles: ["customer"], accounts: [], origin: "key" })

const decode = decodeInput(PortalLinkRequest, { closed: true })

const refused = (reason: string) => Effect.fail(new Unauthenticated({ presented: true, reason }))
