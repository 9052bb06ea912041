/** The service as a Nest provider: it starts and stops with the application. */
import type { Waybill } from "../facade/Waybill.ts"

/** Lifecycle hooks of Nest. */
export interface NestLifecycle {
  readonly onApplicationBootstrap: () => Promise<void>
  readonly onApplicationShutdown: () => Promise<void>
}

/**
 * `{ provide: WAYBILL, useFactory: () => withNestLifecycle(createWaybill(options)) }`. Starts deliveries with the
 * application, and stops after its server did. Nest handles signals only with `app.enableShutdownHooks()`.
 */
export const withNestLifecycle = <W extends Pick<Waybill, "start" | "stop">>(waybill: W): W & NestLifecycle => ({
  ...waybill,
  onApplicationBootstrap: () => waybill.start(),
  onApplicationShutdown: () => waybill.stop()
})
