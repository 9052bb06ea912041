/** Two calls register a secret that nobody has registered before. */
import { layer } from "@effect/vitest"
import { SecretStore, Transaction } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Fiber, Option } from "effect"
import { assert } from "vitest"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { holding, somebodyWaits } from "./Holding.ts"

const { freshTenant } = fixtures

layer(testStorage(freshSchema()), { excludeTestServices: true })("a secret that two register at once", (it) => {
  it.effect("keeps the accounts that the first one named, and both versions", () =>
    Effect.gen(function*() {
      const store = yield* SecretStore
      const transaction = yield* Transaction
      const tenantId = freshTenant()
      // what SigningSecrets.put does
      const put = (byte: number, accounts: ReadonlyArray<string> | undefined) => transaction.run(Effect.gen(function*() {
        const stored = Option.getOrUndefined(yield* store.findForUpdate(tenantId, "main"))
        yield* store.put(tenantId, "main", {
          versions: [{ sealed: Uint8Array.of(byte), signsUntil: undefined }, ...(stored?.versions ?? []).map((v) => ({ ...v, signsUntil: Date.now() + 60_000 }))],
          accounts: accounts ?? stored?.accounts ?? [],
          bodySignature: false
        })
      }))
      const commit = yield* holding(put(1, ["A"]))
      const second = yield* Effect.forkChild(put(2, undefined))
      yield* somebodyWaits
      yield* commit
      yield* Fiber.join(second)
      const stored = Option.getOrThrow(yield* store.find(tenantId, "main"))
      assert.deepStrictEqual([stored.accounts, stored.versions.map((v) => v.sealed[0])], [["A"], [2, 1]])
    }))
})
