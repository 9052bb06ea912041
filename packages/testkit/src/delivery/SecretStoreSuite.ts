/** What a `SecretStore` promises. */
import { SecretStore, type StoragePorts, type StoredSecret } from "@waybill/core"
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import * as Clock from "effect/Clock"
import { bytesOf, eventually, freshTenant } from "../StorageFixtures.ts"

const plain = ({ accounts, bodySignature, versions }: StoredSecret) => ({
  accounts,
  bodySignature,
  versions: versions.map((each) => ({ sealed: [...each.sealed], signsUntil: each.signsUntil }))
})

const version = (text: string, signsUntil?: number) => ({ sealed: bytesOf(text), signsUntil })

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: SecretStore`, (it) => {
    it.effect("finds nothing under an id nothing was put under", () =>
      Effect.gen(function*() {
        const store = yield* SecretStore
        assert.isTrue(Option.isNone(yield* store.find(freshTenant(), "main")))
        assert.isTrue(Option.isNone(yield* store.findForUpdate(freshTenant(), "main")))
      }))

    it.effect("gives back every version, newest first, to the millisecond", () =>
      Effect.gen(function*() {
        const store = yield* SecretStore
        const tenantId = freshTenant()
        const later = (yield* Clock.currentTimeMillis) + 86_400_123
        const secret: StoredSecret = {
          versions: [{ sealed: Uint8Array.from([0, 255, 10, 0]), signsUntil: undefined }, version("b", later), version("a", later - 7)],
          accounts: ["A", "B,{}\"\\", "船"],
          bodySignature: true
        }
        yield* store.put(tenantId, "schlüssel / 1", secret)
        assert.deepStrictEqual(plain(Option.getOrThrow(yield* store.find(tenantId, "schlüssel / 1"))), plain(secret))
        assert.deepStrictEqual(plain(Option.getOrThrow(yield* store.findForUpdate(tenantId, "schlüssel / 1"))), plain(secret))
      }))

    it.effect("replaces everything with the next put", () =>
      Effect.gen(function*() {
        const store = yield* SecretStore
        const tenantId = freshTenant()
        yield* store.put(tenantId, "main", { versions: [version("a")], accounts: ["A"], bodySignature: true })
        const next: StoredSecret = { versions: [version("b")], accounts: [], bodySignature: false }
        yield* store.put(tenantId, "main", next)
        assert.deepStrictEqual(plain(Option.getOrThrow(yield* store.find(tenantId, "main"))), plain(next))
      }))

    it.effect("leaves out versions whose time is over", () =>
      Effect.gen(function*() {
        const store = yield* SecretStore
        const tenantId = freshTenant()
        const now = yield* Clock.currentTimeMillis
        const versions = [version("new"), version("retiring", now + 86_400_000), version("retired", now - 86_400_000), version("soon", now + 30)]
        yield* store.put(tenantId, "main", { versions, accounts: [], bodySignature: false })
        const found = yield* eventually(Effect.map(store.find(tenantId, "main"), Option.getOrThrow), (each) => each.versions.length < 3)
        assert.deepStrictEqual(found.versions.map((each) => new TextDecoder().decode(each.sealed)), ["new", "retiring"])
      }))

    it.effect("keeps tenants and ids apart", () =>
      Effect.gen(function*() {
        const store = yield* SecretStore
        const [one, other] = [freshTenant(), freshTenant()]
        const secret = (text: string): StoredSecret => ({ versions: [version(text)], accounts: [], bodySignature: false })
        yield* store.put(one, "main", secret("one"))
        assert.isTrue(Option.isNone(yield* store.find(other, "main")))
        assert.isTrue(Option.isNone(yield* store.find(one, "Main")))
        yield* store.put(other, "main", secret("other"))
        assert.deepStrictEqual(plain(Option.getOrThrow(yield* store.find(one, "main"))), plain(secret("one")))
      }))
  })
