/** Port: tells delivery workers that there may be work. A hint only; polling is the guarantee. */
import { Context, type Effect } from "effect"

export class Wakeups extends Context.Service<Wakeups, {
  /** Tells every worker of every process that this tenant may have something due. Never fails, may be lost. */
  readonly wake: (tenantId: string) => Effect.Effect<void>
  /** Waits for the next hint and answers whose it was; hints that came since the last wait count. */
  readonly next: Effect.Effect<ReadonlySet<string>>
}>()("@waybill/core/delivery/Wakeups") {}
