/** Two concurrent calls register the same new secret. */
import { layer } from "@effect/vitest"
import { Transaction } from "@waybill/core"
import { type SecretOwner, SecretStore } from "@waybill/core/delivery"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Option } from "effect"
import { assert } from "vitest"
import { freshSchema, testStorage } from "../../TestStorage.ts"
import { runBlocked } from "../../OpenTransaction.ts"

const { freshTenant, storedSecret } = fixtures

layer(testStorage(freshSchema()), { excludeTestServices: true })("a secret that two calls register at the same time", (it) => {
  it.effect("keeps the owner of the first call, and both versions", Effect.fnUntraced(function*() {
    const store = yield* SecretStore
    const transaction = yield* Transaction
    const tenantId = freshTenant()
    // the same steps as SigningSecrets.put
    const put = (byte: number, owner: SecretOwner | undefined) => transaction.run(Effect.gen(function*() {
      const stored = Option.getOrUndefined(yield* store.find(tenantId, "main", "change"))
      yield* store.put(tenantId, "main", storedSecret(
        [{ sealed: Uint8Array.of(byte), signsUntil: undefined }, ...(stored?.versions ?? []).map((v) => ({ ...v, signsUntil: Date.now() + 60_000 }))],
        { owner: owner ?? stored!.owner }
      ))
    }))
    yield* runBlocked(put(1, { _tag: "Client", client: "key:first" }), put(2, undefined))
    const stored = Option.getOrThrow(yield* store.find(tenantId, "main"))
    assert.deepStrictEqual([stored.owner, stored.versions.map((v) => v.sealed[0])], [{ _tag: "Client", client: "key:first" }, [2, 1]])
  }))
})
