/** Writes what a process has gathered for many tenants, such as counts. */
import { Effect } from "effect"
import { StorageError } from "./StorageError.ts"

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

/** Logs the line with the first error, its tenant, and the number of tenants, if anything is unwritten. */
export const logUnwritten = (unwritten: ReadonlyArray<Unwritten<unknown>>, log: (error: StorageError) => Effect.Effect<void>): Effect.Effect<void> => {
  const [first] = unwritten
  return first === undefined ? Effect.void : Effect.annotateLogs(log(first.error), { tenant: first.tenantId, tenants: unwritten.length })
}
