/** Writes what a process has gathered for many tenants, such as counts. */
import { Effect, type Scope } from "effect"
import { StorageError } from "./StoragePort.ts"

/** How long a process gathers before it writes. */
const flushMillis = 60_000

const tenantsAtOnce = 4

/** How long the write of a tenant may take. Another transaction may hold locks. */
const writeMillis = 10_000

/** What was gathered for a tenant and not written. */
interface Unwritten<A> {
  readonly tenantId: string
  readonly gathered: A
  readonly error: StorageError
}

/** Writes what was gathered for each tenant. Returns what could not be written: a tenant whose write fails or is blocked loses only its own. */
export const writeOfTenants = <A>(
  ofTenants: Iterable<readonly [tenantId: string, gathered: A]>,
  write: (tenantId: string, gathered: A) => Effect.Effect<unknown, StorageError>
): Effect.Effect<ReadonlyArray<Unwritten<A>>> =>
  Effect.map(
    Effect.partition(ofTenants, ([tenantId, gathered]) =>
      Effect.mapError(
        Effect.timeoutOrElse(write(tenantId, gathered), { duration: writeMillis, orElse: () => Effect.fail(late) }),
        (error): Unwritten<A> => ({ tenantId, gathered, error })
      ), { concurrency: tenantsAtOnce }),
    ([, unwritten]) => unwritten
  )

const late = new StorageError({ operation: "writeOfTenants", cause: `No response within ${writeMillis / 1000} seconds. Another transaction may hold locks.` })

/** Writes once a minute while something is gathered, and a last time when the scope closes. Returns the call that says that there is something. */
export const makeFlushLater = Effect.fnUntraced(function*(flush: Effect.Effect<void>): Effect.fn.Return<Effect.Effect<void>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let isWaiting = false
  const flushWaiting = Effect.suspend(() => {
    isWaiting = false
    return flush
  })
  yield* Effect.addFinalizer(() => flush)
  return Effect.suspend(() => {
    if (isWaiting) return Effect.void
    isWaiting = true
    return Effect.asVoid(Effect.forkIn(Effect.delay(flushWaiting, flushMillis), scope))
  })
})

/** Logs the line with the first error, its tenant, and the number of tenants, if anything is unwritten. */
export const logUnwritten = (unwritten: ReadonlyArray<Unwritten<unknown>>, log: (error: StorageError) => Effect.Effect<void>): Effect.Effect<void> => {
  const [first] = unwritten
  return first === undefined ? Effect.void : Effect.annotateLogs(log(first.error), { tenant: first.tenantId, tenants: unwritten.length })
}
