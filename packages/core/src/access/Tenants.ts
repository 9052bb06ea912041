/** The tenants of a service. */
import { Context, Effect, Layer, type Option, Schema } from "effect"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { TenantId } from "../shared/Identifier.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { defaultListLimit, ListCursor, ListLimit, type ListPage, namedListPage, textsSize } from "../shared/ListPage.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { TenantBeingRemoved, TenantNotFound } from "./AccessErrors.ts"
import { AccessStore, type Tenant } from "./AccessStore.ts"
import type { TenantState } from "./model/TenantState.ts"
import { type AdmitTenant, makeTenantAdmission } from "./TenantAdmission.ts"

const HostName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/u, { message: "A host name without scheme, port or path." })
)

/** Body that creates or changes a tenant. Without `hosts` it has none. */
export const TenantSettings = Schema.Struct({
  name: Schema.String.check(Schema.isPattern(/^(?=.*\S)[^\p{Cc}\p{Cs}]{1,200}$/u, { message: "name is 1 to 200 printable characters." })),
  /** Host names whose requests without credentials belong to the tenant. */
  hosts: Schema.optionalKey(Schema.Array(HostName).check(Schema.isMaxLength(100, { message: "At most 100 hosts." })))
}).annotate({ identifier: "TenantSettings" })

/** A page of the tenants, by tenantId. */
export const TenantListQuery = Schema.Struct({ cursor: ListCursor, limit: ListLimit })

const isTenantId = Schema.is(TenantId)

/** Creates, changes, suspends and resumes tenants, and admits their calls. */
export class Tenants extends Context.Service<Tenants, {
  /** Creates the tenant, or changes its name and hosts. */
  readonly put: (tenantId: string, input: typeof TenantSettings.Encoded) => Effect.Effect<Tenant, InvalidInput | TenantBeingRemoved | StorageError>
  readonly get: (tenantId: string) => Effect.Effect<Tenant, TenantNotFound | StorageError>
  /** Returns the tenant if it is active. Read at every call. */
  readonly admit: AdmitTenant
  /** Suspends a tenant: its calls are refused and its deliveries are not sent. Operator calls for it still work. */
  readonly suspend: (tenantId: string) => Effect.Effect<Tenant, TenantNotFound | StorageError>
  readonly resume: (tenantId: string) => Effect.Effect<Tenant, TenantNotFound | StorageError>
  readonly list: Effect.Effect<ReadonlyArray<Tenant>, StorageError>
  /** Tenants in the order of their ids. */
  readonly page: (query?: typeof TenantListQuery.Encoded) => Effect.Effect<ListPage<Tenant>, InvalidInput | StorageError>
}>()("@waybill/core/access/Tenants") {
  static readonly layer = Layer.effect(Tenants, Effect.gen(function*() {
    const store = yield* AccessStore
    const queue = yield* DeliveryQueue
    const transaction = yield* Transaction
    const wakeups = yield* Wakeups
    const decodeId = decodeInput(TenantId)
    const decode = decodeInput(TenantSettings, { closed: true })
    const decodeQuery = decodeInput(TenantListQuery, { closed: true })
    const admit = yield* makeTenantAdmission

    const existing = (tenantId: string, found: Effect.Effect<Option.Option<Tenant>, StorageError>) =>
      Effect.flatMap(found, Effect.fromOption(() => new TenantNotFound({ tenantId })))
    const setState = (tenantId: string, state: TenantState) => existing(tenantId, store.setTenantState(tenantId, state))

    return Tenants.of({
      put: Effect.fn("Tenants.put")(function*(tenantId: string, input: unknown) {
        const id = yield* decodeId(tenantId, ["tenantId"])
        const settings = yield* decode(input)
        const tenant = { tenantId: id, name: settings.name, hosts: (settings.hosts ?? []).map((host) => host.toLowerCase()) }
        return yield* Effect.fromOption(yield* store.putTenant(tenant), () => new TenantBeingRemoved({ tenantId: id }))
      }),
      get: Effect.fn("Tenants.get")((tenantId: string) => existing(tenantId, store.findTenant(tenantId))),
      admit,
      suspend: Effect.fn("Tenants.suspend")((tenantId: string) => setState(tenantId, "suspended")),
      resume: Effect.fn("Tenants.resume")((tenantId: string) =>
        transaction.run(Effect.tap(setState(tenantId, "active"), () => queue.accessRestored(tenantId, undefined))).pipe(
          Effect.tap(() => wakeups.wake(tenantId))
        )
      ),
      list: store.listTenants,
      page: Effect.fn("Tenants.page")(function*(input: unknown = {}) {
        const { cursor, limit = defaultListLimit } = yield* decodeQuery(input)
        return yield* namedListPage({ read: store.pageTenants, idOf: ({ tenantId }) => tenantId, sizeOf: ({ hosts }) => 200 + textsSize(hosts), shown: (tenant) => tenant }, isTenantId, cursor, limit)
      })
    })
  }))
}
