/** Seals stored secrets again with the key that seals now, so that older sealing keys are needed no more. */
import { Effect, Option } from "effect"
import type { StorageError } from "../../shared/StorageError.ts"
import type { Transaction } from "../../shared/Transaction.ts"
import type { Sealer } from "./Sealer.ts"
import type { SecretStore, StoredSecret } from "./SecretStore.ts"

export interface Resealed {
  /** Secrets that an older key had sealed. */
  readonly resealed: number
  /** Secrets that need nothing. */
  readonly unchanged: number
  /** Ids of secrets that no key here opens, the first of them. They are left as they are. */
  readonly unreadable: ReadonlyArray<string>
}

/** Ids that an answer names, at most. */
const mostNamed = 100

const secretsPerPage = 50

/** All secrets of a tenant, one transaction each: what was done stays done if it is interrupted. */
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
      // read without a lock first: nearly all need nothing when the command is repeated
      const found = Option.getOrUndefined(yield* store.find(tenantId, hmacSecretId))
      const result = found === undefined || isCurrent(found) ? "unchanged" : yield* reseal(hmacSecretId)
      if (result !== "unreadable") done[result] += 1
      else if (unreadable.length < mostNamed) unreadable.push(hmacSecretId)
    }
    after = page.at(-1)?.hmacSecretId
    if (page.length < secretsPerPage) return { ...done, unreadable }
  }
})
