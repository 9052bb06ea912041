/** Whether this process is ready: the storage answers, and further checks of the program pass. */
import type { AccessStore, LineLimiter } from "@waybill/core"
import { Context, Effect, Layer } from "effect"

/** One check of `/readyz`. */
export interface ReadinessCheck {
  /** Public; never a host name or an address. */
  readonly name: string
  /** Fails while the process is not ready. The failure is logged, not shown. */
  readonly check: Effect.Effect<unknown, unknown>
  /** The process is ready also while this check fails. The check logs its failure itself. */
  readonly isOptional?: boolean
}

/** Checks of the program, besides the one of the storage. Default: none. */
export class Readiness extends Context.Reference<{
  readonly checks: ReadonlyArray<ReadinessCheck>
  /** A stopping process is not ready, regardless of its checks, and still serves. */
  readonly isStopping: () => boolean
}>("@waybill/http/server/Readiness", { defaultValue: () => ({ checks: [], isStopping: () => false }) }) {
  static readonly layer = (checks: ReadonlyArray<ReadinessCheck>): Layer.Layer<never> => Layer.succeed(Readiness, { checks, isStopping: () => false })
}

/** Passes while the storage answers. */
export const storageCheck = (access: AccessStore["Service"]): ReadinessCheck => ({ name: "storage", check: access.findTenant("readiness") })

interface CheckedReadiness {
  readonly status: "ready" | "not_ready"
  readonly checks: ReadonlyArray<{ readonly name: string; readonly ok: boolean }>
}

/** The response of a stopping process. */
export const stoppingReadiness: CheckedReadiness = { status: "not_ready", checks: [{ name: "running", ok: false }] }

/** A check that takes longer has failed. */
const checkTimeoutMillis = 3_000

export const runChecks = (checks: ReadonlyArray<ReadinessCheck>, lines: LineLimiter): Effect.Effect<CheckedReadiness> =>
  Effect.map(
    Effect.forEach(checks, ({ check, isOptional = false, name }) =>
      check.pipe(
        Effect.timeout(checkTimeoutMillis),
        Effect.as({ name, ok: true, isOptional }),
        Effect.catchCause((cause) =>
          Effect.as(
            isOptional ? Effect.void : lines.log(`Readiness check "${name}" failed.`, Effect.logWarning(`Readiness check "${name}" failed.`, cause)),
            { name, ok: false, isOptional }
          ))
      ), { concurrency: "unbounded" }),
    (checked) => ({
      status: checked.every(({ isOptional, ok }) => ok || isOptional) ? "ready" : "not_ready",
      checks: checked.map(({ name, ok }) => ({ name, ok }))
    })
  )
