/** Periodic background work of all tenants, in which none delays the others: one that fails, one with much work, or one whose rows are locked. */
import { Cause, Effect, Exit, Latch } from "effect"
import { LineLimiter } from "./LineLimiter.ts"
import type { ListRange } from "./ListPage.ts"
import { monotonicMillis } from "./MonotonicTime.ts"
import { StorageError } from "./StoragePort.ts"
import { withTimeLimit } from "./TimeLimit.ts"

/** Tenants per read. */
const tenantsPerPage = 100

/** Pause after a failure to read which tenants have work. */
const failurePauseMillis = 10_000

/** Pause before the next step of a tenant whose step failed; it doubles up to the longest one. */
const firstRetryMillis = 10_000
const longestRetryMillis = 300_000

/** Tenants that failed are served by two at once, so that they leave most connections to others. */
const retriesAtOnce = 2

/** What a step did, and whether the tenant may have more work. */
export interface SweepStep {
  readonly done: number
  readonly more: boolean
}

/** The work of a sweep. */
export interface TenantWork {
  /** Tenants that may have work, in the order of their ids. */
  readonly tenants: (range: ListRange) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** A bounded part of a tenant's work. Leaves out what other transactions have locked, and returns `more: false` when nothing else is left. */
  readonly step: (tenantId: string) => Effect.Effect<SweepStep, StorageError>
  /** Number of tenants whose steps run at the same time. Default 4. */
  readonly tenantsAtOnce?: number
  /** How long a step may take. Default `blockedMillis`; longer for steps of many statements, each of which then has that limit. */
  readonly stepMillis?: number
}

interface Failing {
  /** What the log says. */
  readonly text: string
  readonly failures: number
  /** In `monotonicMillis`. */
  readonly dueAt: number
}

/** One kind of background work. */
export class TenantSweep {
  private readonly problem: string
  private readonly work: TenantWork
  /** Tenants whose last step failed, the longest ago first. They are served beside the others, and less often. */
  private readonly failing = new Map<string, Failing>()
  private readonly someFail = Latch.makeUnsafe(false)
  private readonly lines = new LineLimiter()
  /** Why the last read of tenants failed. */
  private unread: string | undefined

  /** `problem`: the beginning of the log lines about failures, such as `Freight charge windows not closed`. */
  constructor(problem: string, work: TenantWork) {
    this.problem = problem
    this.work = work
  }

  /** All work once, for cron, serverless and tests. Returns how much was done. Fails with the first failure of a tenant, after the others were served. */
  get sweep(): Effect.Effect<number, StorageError> {
    return Effect.suspend(() => {
      const failures: Array<Cause.Cause<StorageError>> = []
      return Effect.flatMap(
        Effect.all([this.rounds(failures), this.retry(Array.from(this.failing.keys()), failures)], { concurrency: 2 }),
        ([done, retried]) => failures[0] === undefined ? Effect.succeed(done + retried) : Effect.failCause(failures[0])
      )
    })
  }

  /** Sweeps until interrupted, with a pause after each sweep. Several processes may run it. */
  run(pauseMillis: Effect.Effect<number, StorageError>): Effect.Effect<never> {
    const sweeping = Effect.exit(Effect.andThen(Effect.suspend(() => this.rounds([])), pauseMillis)).pipe(
      Effect.tap((exit) => this.reportRead(exit)),
      Effect.flatMap((exit) => Effect.sleep(Exit.isSuccess(exit) ? exit.value : failurePauseMillis)),
      Effect.forever
    )
    const retrying = Effect.forever(Effect.andThen(this.someFail.await, Effect.andThen(Effect.sleep(firstRetryMillis), this.retryDue)))
    return Effect.raceFirst(sweeping, retrying)
  }

  /** Tenants take turns, one step each, until none of them has more work. Every turn reads which tenants have work now. */
  private rounds(failures: Array<Cause.Cause<StorageError>>): Effect.Effect<number, StorageError> {
    const { tenants, tenantsAtOnce = 4 } = this.work
    return Effect.gen({ self: this }, function*() {
      const ended = new Set<string>()
      let done = 0
      let worked = false
      const serve = (tenantId: string) => Effect.map(this.serve(tenantId), (exit) => {
        if (Exit.isFailure(exit)) failures.push(exit.cause)
        else {
          done += exit.value.done
          if (exit.value.more) worked = true
          else ended.add(tenantId)
        }
      })
      do {
        worked = false
        for (let after: string | undefined, isLast = false; !isLast;) {
          const page = yield* tenants({ after, limit: tenantsPerPage })
          const due = page.filter((tenantId) => !ended.has(tenantId) && !this.failing.has(tenantId))
          yield* Effect.forEach(due, serve, { concurrency: tenantsAtOnce, discard: true })
          after = page.at(-1)
          isLast = page.length < tenantsPerPage
        }
        yield* Effect.yieldNow
      } while (worked)
      return done
    })
  }

  private get retryDue(): Effect.Effect<number> {
    return Effect.flatMap(monotonicMillis, (now) =>
      this.retry(Array.from(this.failing).flatMap(([tenantId, { dueAt }]) => dueAt <= now ? [tenantId] : []), []))
  }

  /** Serves tenants that failed, until they fail again or have no more work. */
  private retry(tenantIds: ReadonlyArray<string>, failures: Array<Cause.Cause<StorageError>>): Effect.Effect<number> {
    const serve = (tenantId: string) => Effect.gen({ self: this }, function*() {
      for (let done = 0;;) {
        const exit = yield* this.serve(tenantId)
        if (Exit.isFailure(exit)) failures.push(exit.cause)
        else done += exit.value.done
        if (Exit.isFailure(exit) || !exit.value.more) return done
        yield* Effect.yieldNow
      }
    })
    return Effect.map(Effect.forEach(tenantIds, serve, { concurrency: retriesAtOnce }), (all) => all.reduce((sum, done) => sum + done, 0))
  }

  /** One step of a tenant. A failure is logged when it is new. */
  private serve(tenantId: string): Effect.Effect<Exit.Exit<SweepStep, StorageError>> {
    const { step, stepMillis } = this.work
    return Effect.gen({ self: this }, function*() {
      const exit = yield* Effect.exit(withTimeLimit("TenantSweep.step", step(tenantId), stepMillis))
      if (Exit.isSuccess(exit)) {
        if (this.failing.delete(tenantId)) yield* Effect.annotateLogs(this.recovered, { tenant: tenantId })
      } else {
        if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt
        const before = this.failing.get(tenantId)
        const [failures, text] = [(before?.failures ?? 0) + 1, textOf(exit.cause)]
        this.failing.delete(tenantId)
        this.failing.set(tenantId, { text, failures, dueAt: (yield* monotonicMillis) + Math.min(firstRetryMillis * 2 ** Math.min(failures - 1, 10), longestRetryMillis) })
        if (before?.text !== text) yield* Effect.annotateLogs(this.failed(exit.cause), { tenant: tenantId })
      }
      if (this.failing.size > 0) this.someFail.openUnsafe()
      else this.someFail.closeUnsafe()
      return exit
    })
  }

  private reportRead(exit: Exit.Exit<number, StorageError>): Effect.Effect<void> {
    const before = this.unread
    this.unread = Exit.isSuccess(exit) ? undefined : textOf(exit.cause)
    if (before === this.unread) return Effect.void
    return Exit.isSuccess(exit) ? this.recovered : this.failed(exit.cause)
  }

  private failed(cause: Cause.Cause<StorageError>): Effect.Effect<void> {
    return this.lines.log(this.problem, Effect.logWarning(`${this.problem}, trying again.`, cause))
  }

  private get recovered(): Effect.Effect<void> {
    return this.lines.log("recovered", Effect.annotateLogs(Effect.logInfo("Background work continues after a failure."), { failed: this.problem }))
  }
}

const textOf = (cause: Cause.Cause<StorageError>): string => {
  const error = Cause.squash(cause)
  return error instanceof StorageError ? `${error.operation}: ${String(error.cause)}` : String(error)
}
