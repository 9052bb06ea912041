/** Port: wakes delivery workers that may have work. Hints may be lost; polling is the guarantee. */
import { Context, type Effect, type Scope } from "effect"

/** A worker that takes hints. */
export interface WakeableWorker {
  /** Something of this tenant may have changed. */
  readonly hint: (tenantId: string) => void
  /** Whether it owns all of a tenant, so that workers of other processes need no hint for the tenant. */
  readonly servesAlone: (tenantId: string) => Effect.Effect<boolean>
}

/** Hints for delivery workers of this and other processes. */
export class Wakeups extends Context.Service<Wakeups, {
  /** Wakes every worker that could serve this tenant. Never fails, may be lost. */
  readonly wake: (tenantId: string) => Effect.Effect<void>
  /** Gives a worker of this process all hints until the scope closes. */
  readonly serve: (worker: WakeableWorker) => Effect.Effect<void, never, Scope.Scope>
}>()("@waybill/core/delivery/Wakeups") {}
