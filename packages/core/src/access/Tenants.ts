/** The tenants a running service serves. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { TenantId } from "../shared/Identifier.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { defaultListLimit, foreignCursor, ListCursor, ListLimit, type ListPage, listPage } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { TenantNotFound } from "./AccessErrors.ts"
import { AccessStore, type Tenant } from "./AccessStore.ts"

const HostName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/u, { message: "A host name without scheme, port or path." })
)

export const TenantSettings = Schema.Struct({
  name: Schema.String.check(Schema.isPattern(/^(?=.*\S)[^\p{Cc}\p{Cs}]{1,200}$/u, { message: "name is 1 to 200 printable characters." })),
  hosts: Schema.optionalKey(Schema.Array(HostName).check(Schema.isMaxLength(100, { message: "At most 100 hosts." })))
}).annotate({ identifier: "TenantSettings" })

export const TenantListQuery = Schema.Struct({ cursor: ListCursor, limit: ListLimit })

const isTenantId = Schema.is(TenantId)

export class Tenants extends Context.Service<Tenants, {
  /** Creates the tenant, or changes its name and hosts. */
  readonly put: (tenantId: string, input: unknown) => Effect.Effect<Tenant, InvalidInput | StorageError>
  readonly get: (tenantId: string) => Effect.Effect<Tenant, TenantNotFound | StorageError>
  readonly list: Effect.Effect<ReadonlyArray<Tenant>, StorageError>
  /** By tenantId. */
  readonly page: (query: unknown) => Effect.Effect<ListPage<Tenant>, InvalidInput | StorageError>
}>()("@waybill/core/access/Tenants") {
  static readonly layer = Layer.effect(
    Tenants,
    Effect.gen(function*() {
      const store = yield* AccessStore
      const decodeId = decodeInput(TenantId)
      const decode = decodeInput(TenantSettings, { closed: true })
      const decodeQuery = decodeInput(TenantListQuery, { closed: true })
      return Tenants.of({
        put: Effect.fn("Tenants.put")(function*(tenantId: string, input: unknown) {
          const id = yield* decodeId(tenantId, ["tenantId"])
          const settings = yield* decode(input)
          const tenant = { tenantId: id, name: settings.name, hosts: (settings.hosts ?? []).map((host) => host.toLowerCase()) }
          yield* store.putTenant(tenant)
          return tenant
        }),
        get: Effect.fn("Tenants.get")(function*(tenantId: string) {
          const found = yield* store.findTenant(tenantId)
          if (Option.isNone(found)) return yield* new TenantNotFound({ tenantId })
          return found.value
        }),
        list: store.listTenants,
        page: Effect.fn("Tenants.page")(function*(input: unknown) {
          const { cursor, limit = defaultListLimit } = yield* decodeQuery(input)
          if (cursor !== undefined && !isTenantId(cursor)) return yield* foreignCursor
          const rows = yield* store.pageTenants({ after: cursor, limit: limit + 1 })
          return listPage(rows, limit, ({ tenantId }) => tenantId, (tenant) => tenant)
        })
      })
    })
  )
}
