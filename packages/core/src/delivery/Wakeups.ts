/** Port: tells delivery workers that there may be work. A hint only; polling is the guarantee. */
import { Context, type Effect, type Scope } from "effect"

export class Wakeups extends Context.Service<Wakeups, {
  /** Tells every worker that could serve this tenant that something may be due. Never fails, may be lost. */
  readonly wake: (tenantId: string) => Effect.Effect<void>
  /** A worker of this process says whether it alone can serve a tenant now: workers of other processes need no hint then. Until the scope closes. */
  readonly serve: (servesAlone: (tenantId: string) => Effect.Effect<boolean>) => Effect.Effect<void, never, Scope.Scope>
  /** Waits for the next hint and answers whose it was; hints that came since the last wait count. */
  readonly next: Effect.Effect<ReadonlySet<string>>
}>()("@waybill/core/delivery/Wakeups") {}
