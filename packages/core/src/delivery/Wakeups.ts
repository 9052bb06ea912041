/** Port: wakes delivery workers that may have work. Hints may be lost; polling is the guarantee. */
import { Context, type Effect, type Scope } from "effect"

/** Hints for delivery workers of this and other processes. */
export class Wakeups extends Context.Service<Wakeups, {
  /** Wakes every worker that could serve this tenant. Never fails, may be lost. */
  readonly wake: (tenantId: string) => Effect.Effect<void>
  /** Registers a worker of this process until the scope closes. While it owns all of a tenant, workers of other processes need no hint for the tenant. */
  readonly serve: (servesAlone: (tenantId: string) => Effect.Effect<boolean>) => Effect.Effect<void, never, Scope.Scope>
  /** Waits for hints and returns their tenants; includes hints since the last wait. */
  readonly next: Effect.Effect<ReadonlySet<string>>
}>()("@waybill/core/delivery/Wakeups") {}
