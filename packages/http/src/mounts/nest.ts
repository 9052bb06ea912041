/** The service as a provider of Nest: it starts and stops with the application. */
import type { Waybill } from "../facade/Waybill.ts"

/** Nest's own lifecycle, by its names. */
export interface NestLifecycle {
  readonly onApplicationBootstrap: () => Promise<void>
  readonly onApplicationShutdown: () => Promise<void>
}

/**
 * `{ provide: WAYBILL, useFactory: () => withNestLifecycle(createWaybill(options)) }`. Delivers from the application's start on
 * and stops after its server has. `app.enableShutdownHooks()` makes Nest see signals.
 */
export const withNestLifecycle = <W extends Pick<Waybill, "start" | "stop">>(waybill: W): W & NestLifecycle => ({
  ...waybill,
  onApplicationBootstrap: () => waybill.start(),
  onApplicationShutdown: () => waybill.stop()
})
