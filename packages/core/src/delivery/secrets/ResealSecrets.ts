/** Seals stored secrets again with the newest sealing key, so that older keys are no longer needed. */
import { Effect, Option } from "effect"
import type { StorageError, Transaction } from "../../shared/StoragePort.ts"
import type { Sealer } from "./Sealer.ts"
import type { SecretStore, StoredSecret } from "./SecretStore.ts"

/** Numbers of secrets after a reseal of a tenant. */
export interface Resealed {
  /** Secrets that an older key had sealed. */
  readonly resealed: number
  /** Secrets that the newest key had sealed, or that were deleted. */
  readonly unchanged: number
  /** The first 100 ids of secrets that no sealing key of this process opens. They do not change. */
  readonly unreadable: ReadonlyArray<string>
}

/** Maximum number of ids in a result. */
const mostNamed = 100

const secretsPerPage = 50

/** Reseals all secrets of a tenant, each in its own transaction, so that an interrupted call keeps its progress. */
export const resealSecrets = Effect.fnUntraced(function*(
  { placeOf, sealer, store, transaction }: {
    readonly store: SecretStore["Service"]
    readonly sealer: Sealer["Service"]
    readonly transaction: Transaction["Service"]
    readonly placeOf: (hmacSecretId: string) => string
  },
  tenantId: string
) {
  const isCurrent = ({ versions }: StoredSecret) => versions.every(({ sealed }) => sealer.isSealedByNewest(sealed))

  const reseal = (hmacSecretId: string): Effect.Effect<"resealed" | "unchanged" | "unreadable", StorageError> =>
    transaction.run(Effect.gen(function*() {
      const stored = Option.getOrUndefined(yield* store.find(tenantId, hmacSecretId, "change"))
      if (stored === undefined || isCurrent(stored)) return "unchanged"
      const place = placeOf(hmacSecretId)
      const versions = yield* Effect.forEach(stored.versions, ({ sealed, signsUntil }) =>
        Effect.map(Effect.flatMap(sealer.open(place, sealed), (plain) => sealer.seal(place, plain)), (again) => ({ sealed: again, signsUntil })))
      yield* store.put(tenantId, hmacSecretId, { ...stored, versions })
      return "resealed"
    })).pipe(Effect.catchTag("SecretUnreadable", () => Effect.succeed("unreadable" as const)))

  const done = { resealed: 0, unchanged: 0 }
  const unreadable: Array<string> = []
  let after: string | undefined
  for (;;) {
    const page = yield* store.page(tenantId, { after, limit: secretsPerPage })
    for (const { hmacSecretId } of page) {
      // first without a lock, because a repeated command finds nearly all secrets resealed
      const found = Option.getOrUndefined(yield* store.find(tenantId, hmacSecretId))
      const result = found === undefined || isCurrent(found) ? "unchanged" : yield* reseal(hmacSecretId)
      if (result !== "unreadable") done[result] += 1
      else if (unreadable.length < mostNamed) unreadable.push(hmacSecretId)
    }
    after = page.at(-1)?.hmacSecretId
    if (page.length < secretsPerPage) return { ...done, unreadable }
  }
})
