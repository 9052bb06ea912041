/** Who may open a portal by a link: checks the request for a link, and the client of a link at every call. */
import { Context, Effect, Layer, Option } from "effect"
import * as Clock from "effect/Clock"
import { ClientNotFound, type TenantNotFound, type TenantSuspended, Unauthenticated } from "../access/AccessErrors.ts"
import { AccessStore } from "../access/AccessStore.ts"
import { clientNamed } from "../access/model/Client.ts"
import type { Principal } from "../access/model/Principal.ts"
import { makeTenantAdmission } from "../access/TenantAdmission.ts"
import { Tenants } from "../access/Tenants.ts"
import { Sealer } from "../delivery/Sealer.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
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
  readonly principalOf: (grant: PortalGrant) => Effect.Effect<Principal, Unauthenticated | TenantSuspended | StorageError>
}>()("@waybill/core/portal/PortalAccess") {
  static readonly layer = Layer.effect(
    PortalAccess,
    Effect.gen(function*() {
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

      const principalOf = Effect.fn("PortalAccess.principalOf")(function*({ client, tenantId }: PortalGrant) {
        if (Option.isNone(yield* admit(tenantId))) return yield* refused("portal link of an unknown tenant")
        if ((yield* store.findClientState(tenantId, client)) !== "live") return yield* refused("portal link of a client without access")
        // a portal needs no freight, so a link grants none, even if it were accepted elsewhere
        return { tenantId, client, roles: ["customer"], accounts: [], origin: "key" } satisfies Principal
      })

      return PortalAccess.of({ tokenKeys, grant, principalOf })
    })
  )
}

const decode = decodeInput(PortalLinkRequest, { closed: true })

const refused = (reason: string) => Effect.fail(new Unauthenticated({ presented: true, reason }))
