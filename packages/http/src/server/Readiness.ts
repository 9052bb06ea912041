/** Port: whether this process is ready. The program that assembles the service provides the checks. */
import { AccessStore, type StorageError } from "@waybill/core"
import { Context, Effect, Layer } from "effect"

export interface ReadinessCheck {
  /** Public; never a host name or an address. */
  readonly name: string
  /** Fails while the process is not ready. The failure is logged, not shown. */
  readonly check: Effect.Effect<unknown, unknown>
}

export class Readiness extends Context.Service<Readiness, {
  readonly checks: ReadonlyArray<ReadinessCheck>
}>()("@waybill/http/server/Readiness") {
  static readonly layer = (checks: ReadonlyArray<ReadinessCheck>): Layer.Layer<Readiness> => Layer.succeed(Readiness, { checks })

  /** Ready while the storage answers. */
  static readonly layerStorage: Layer.Layer<Readiness, never, AccessStore> = Layer.effect(
    Readiness,
    Effect.gen(function*() {
      const access = yield* AccessStore
      const check: Effect.Effect<unknown, StorageError> = access.findTenant("readiness")
      return { checks: [{ name: "storage", check }] }
    })
  )
}

export interface CheckedReadiness {
  readonly status: "ready" | "not_ready"
  readonly checks: ReadonlyArray<{ readonly name: string; readonly ok: boolean }>
}

/** A check that takes longer has failed. */
const checkTimeoutMillis = 3_000

export const askReadiness = (readiness: Readiness["Service"]): Effect.Effect<CheckedReadiness> =>
  Effect.map(
    Effect.forEach(readiness.checks, ({ check, name }) =>
      check.pipe(
        Effect.timeout(checkTimeoutMillis),
        Effect.as({ name, ok: true }),
        Effect.catchCause((cause) => Effect.as(Effect.logWarning(`Readiness check "${name}" failed.`, cause), { name, ok: false }))
      ), { concurrency: "unbounded" }),
    (checks) => ({ status: checks.every(({ ok }) => ok) ? "ready" : "not_ready", checks })
  )
