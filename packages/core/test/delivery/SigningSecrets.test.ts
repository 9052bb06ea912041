import { assert, describe, it } from "@effect/vitest"
import { DeliveryOptions, parseSecret, secretOfClient, Sealer, SecretStore, SigningSecrets } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { json } from "../arbitraries.ts"

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, TestWaybill.layer())

const given = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const secrets = yield* SigningSecrets
  const store = yield* SecretStore
  return { tenant, secrets, versions: Effect.map(store.find("acme", "s"), (found) => Option.getOrThrow(found).versions) }
})

describe("SigningSecrets", () => {
  it.effect("generates a secret where none is given, and shows it once", () =>
    inService(Effect.gen(function*() {
      const { secrets } = yield* setup
      const first = yield* secrets.put("acme", "s", {})
      const second = yield* secrets.put("acme", "t", {})
      assert.strictEqual(parseSecret(Redacted.value(first.secret))!.length, 32)
      assert.notStrictEqual(Redacted.value(first.secret), Redacted.value(second.secret))
      assert.notInclude(String(first.secret), "whsec_")
    })))

  it.effect("stores it sealed, bound to its place", () =>
    inService(Effect.gen(function*() {
      const { secrets, versions } = yield* setup
      yield* secrets.put("acme", "s", { secret: given })
      const [version] = yield* versions
      assert.notInclude(Buffer.from(version!.sealed).toString("hex"), Buffer.from(parseSecret(given)!).toString("hex"))
      const sealer = yield* Sealer
      yield* Effect.flip(sealer.open("elsewhere/s", version!.sealed))
    })))

  it.effect("rotates: the one before goes on signing for the overlap", () =>
    inService(Effect.gen(function*() {
      const { secrets, versions } = yield* setup
      yield* secrets.put("acme", "s", {})
      yield* secrets.put("acme", "s", { overlapSeconds: 100 })
      assert.deepStrictEqual((yield* versions).map((each) => each.signsUntil), [undefined, 100_000])
      yield* TestClock.adjust(100_000)
      assert.lengthOf(yield* versions, 1)
      yield* secrets.put("acme", "s", {})
      assert.deepStrictEqual((yield* versions).map((each) => each.signsUntil), [undefined, 100_000 + 86_400_000])
    })))

  it.effect("ends the life of a leaked secret at once with an overlap of 0, older ones included", () =>
    inService(Effect.gen(function*() {
      const { secrets, versions } = yield* setup
      for (let n = 0; n < 3; n++) yield* secrets.put("acme", "s", {})
      yield* secrets.put("acme", "s", { overlapSeconds: 0 })
      assert.lengthOf(yield* versions, 1)
    })))

  it.effect("of a client may be named by nobody else, whatever they are called (SPEC-GAP-X3)", () =>
    inService(Effect.gen(function*() {
      const { secrets } = yield* setup
      yield* secrets.put("acme", secretOfClient("shipper"), {})
      const may = (client: string, id: string) =>
        secrets.mayName({ tenantId: "acme", client, roles: ["customer"], accounts: [], origin: "key" }, id)
      assert.isTrue(yield* may("shipper", "client:shipper"))
      assert.isFalse(yield* may("other", "client:shipper"))
      // a client that calls itself like a secret gets nothing of it
      yield* secrets.put("acme", "main", { accounts: ["A"] })
      assert.notStrictEqual(secretOfClient("main"), "main")
    })))

  it.effect("changes nothing when the same secret is put again", () =>
    inService(Effect.gen(function*() {
      const { secrets, versions } = yield* setup
      yield* secrets.put("acme", "s", { secret: given })
      const before = yield* versions
      yield* secrets.put("acme", "s", { secret: given, overlapSeconds: 0 })
      assert.deepStrictEqual(yield* versions, before)
    })))

  it.effect("keeps accounts and the older signature when a rotation does not name them", () =>
    inService(Effect.gen(function*() {
      const { secrets } = yield* setup
      yield* secrets.put("acme", "s", { accounts: ["A"], bodySignature: true })
      yield* secrets.put("acme", "s", {})
      const stored = Option.getOrThrow(yield* (yield* SecretStore).find("acme", "s"))
      assert.deepStrictEqual([stored.accounts, stored.bodySignature], [["A"], true])
      yield* secrets.put("acme", "s", { accounts: [], bodySignature: false })
      const changed = Option.getOrThrow(yield* (yield* SecretStore).find("acme", "s"))
      assert.deepStrictEqual([changed.accounts, changed.bodySignature], [[], false])
    })))

  it.effect("loses none of several rotations at once", () =>
    inService(Effect.gen(function*() {
      const { secrets, versions } = yield* setup
      yield* Effect.all(Array.from({ length: 3 }, () => secrets.put("acme", "s", {})), { concurrency: "unbounded" })
      const live = yield* versions
      assert.isAtLeast(live.length, 2)
      assert.lengthOf(live.filter((each) => each.signsUntil === undefined), 1)
    })))

  it.effect("lets those name a secret who have one of its accounts, or all where it has none", () =>
    inService(Effect.gen(function*() {
      const { secrets, tenant } = yield* setup
      yield* secrets.put("acme", "bound", { accounts: ["A"] })
      yield* secrets.put("acme", "free", {})
      const mayName = (accounts: ReadonlyArray<string>, id: string) => secrets.mayName(tenant.customer("c", accounts), id)
      assert.deepStrictEqual(yield* Effect.all([mayName(["A", "B"], "bound"), mayName(["B"], "bound"), mayName([], "bound"), mayName([], "free"), mayName(["A"], "unknown")]), [true, false, false, true, false])
    })))

  it.effect("refuses what is no secret, no id, and no tenant", () =>
    inService(Effect.gen(function*() {
      const { secrets } = yield* setup
      for (const secret of ["", "whsec_", "password", given.slice(6), `${given}x`, 7, null]) {
        const refused = yield* Effect.flip(secrets.put("acme", "s", { secret }))
        assert.strictEqual(refused._tag, "InvalidInput")
        assert.notInclude(JSON.stringify(refused), given.slice(6, 30))
      }
      for (const id of ["", " x", "a\nb"]) assert.strictEqual((yield* Effect.flip(secrets.put("acme", id, {})))._tag, "InvalidInput")
      assert.strictEqual((yield* Effect.flip(secrets.put("nobody", "s", {})))._tag, "TenantNotFound")
      for (const overlapSeconds of [-1, 604_801, 1.5]) yield* Effect.flip(secrets.put("acme", "s", { overlapSeconds }))
    })))

  it.effect.prop("never break on garbage", [json], ([input]) =>
    inService(Effect.gen(function*() {
      const { secrets } = yield* setup
      const exit = yield* Effect.exit(secrets.put("acme", "s", input))
      if (exit._tag === "Failure") assert.deepStrictEqual(exit.cause.reasons.map((reason) => reason._tag), ["Fail"])
    })))
})

describe("Sealer", () => {
  const key = (n: number) => Redacted.make(new Uint8Array(32).fill(n))
  const plain = parseSecret(given)!
  const use = <A, E>(effect: Effect.Effect<A, E, Sealer>, ...keys: readonly [number, ...ReadonlyArray<number>]) =>
    Effect.provide(effect, Sealer.layer([key(keys[0]), ...keys.slice(1).map(key)]))
  const seal = Effect.flatMap(Sealer, (sealer) => sealer.seal("acme/s", plain))
  const open = (place: string, sealed: Uint8Array) => Effect.flatMap(Sealer, (sealer) => sealer.open(place, sealed))

  it.effect("opens what it sealed, in its place only", () =>
    Effect.gen(function*() {
      const sealed = yield* use(seal, 1)
      assert.deepStrictEqual(yield* use(open("acme/s", sealed), 1), plain)
      yield* Effect.flip(use(open("other/s", sealed), 1))
    }))

  it.effect("never seals the same secret to the same bytes", () =>
    Effect.gen(function*() {
      assert.notDeepEqual(yield* use(seal, 1), yield* use(seal, 1))
    }))

  it.effect("opens with an older key, and seals with the newest", () =>
    Effect.gen(function*() {
      const old = yield* use(seal, 1)
      assert.deepStrictEqual(yield* use(open("acme/s", old), 2, 1), plain)
      yield* Effect.flip(use(open("acme/s", old), 2))
      assert.deepStrictEqual(yield* use(open("acme/s", yield* use(seal, 2, 1)), 2), plain)
    }))

  it.effect("refuses whatever was changed, cut or never sealed", () =>
    Effect.gen(function*() {
      const sealed = yield* use(seal, 1)
      for (let at = 0; at < sealed.length; at++) {
        const changed = sealed.slice()
        changed[at]! ^= 1
        yield* Effect.flip(use(open("acme/s", changed), 1))
      }
      for (const length of [0, 1, 5, 17, sealed.length - 1]) yield* Effect.flip(use(open("acme/s", sealed.slice(0, length)), 1))
    }))
})

describe("DeliveryOptions", () => {
  it("refuse a lease that is not longer than an attempt", () => {
    assert.throws(() => DeliveryOptions.layer({ attemptTimeoutMillis: 20_000, leaseMillis: 20_000 }), /leaseMillis/)
    DeliveryOptions.layer({ attemptTimeoutMillis: 20_000, leaseMillis: 20_001 })
  })
})
