import { assert, describe, it } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { DeliveryOptions, parseSecret, secretOfClient, Sealer, SecretStore, SigningSecrets } from "@waybill/core/delivery"
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { json } from "../../arbitraries.ts"
import { untyped } from "../../untyped.ts"
import { inService } from "../../inService.ts"

const given = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

/** A secret that any client may use. */
const any = { anyClient: true } as const

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const secrets = yield* SigningSecrets
  const store = yield* SecretStore
  return { tenant, secrets, store, versions: Effect.map(store.find("acme", "s"), (found) => Option.getOrThrow(found).versions) }
})

describe("SigningSecrets", () => {
  it.effect("generates a secret if none is given, and returns it once", Effect.fnUntraced(function*() {
    const { secrets } = yield* setup
    const first = yield* secrets.put("acme", "s", any)
    const second = yield* secrets.put("acme", "t", any)
    assert.strictEqual(parseSecret(Redacted.value(first.secret))!.length, 32)
    assert.notStrictEqual(Redacted.value(first.secret), Redacted.value(second.secret))
    assert.notInclude(String(first.secret), "whsec_")
  }, inService))

  it.effect("stores it sealed, bound to tenant and id", Effect.fnUntraced(function*() {
    const { secrets, versions } = yield* setup
    yield* secrets.put("acme", "s", { ...any, secret: given })
    const [version] = yield* versions
    assert.notInclude(Buffer.from(version!.sealed).toString("hex"), Buffer.from(parseSecret(given)!).toString("hex"))
    const sealer = yield* Sealer
    yield* Effect.flip(sealer.open("elsewhere/s", version!.sealed))
  }, inService))

  it.effect("rotates: the previous version keeps signing for the overlap", Effect.fnUntraced(function*() {
    const { secrets, versions } = yield* setup
    yield* secrets.put("acme", "s", any)
    yield* secrets.put("acme", "s", { overlapSeconds: 100 })
    assert.deepStrictEqual((yield* versions).map((each) => each.signsUntil), [undefined, 100_000])
    yield* TestClock.adjust(100_000)
    assert.lengthOf(yield* versions, 1)
    yield* secrets.put("acme", "s", any)
    assert.deepStrictEqual((yield* versions).map((each) => each.signsUntil), [undefined, 100_000 + 86_400_000])
  }, inService))

  it.effect("ends the overlap by the clock of the store, also when that of this process is wrong", Effect.fnUntraced(function*() {
    const { secrets, store, versions } = yield* setup
    yield* secrets.put("acme", "s", any)
    const { find } = store
    yield* Effect.acquireRelease(
      Effect.sync(() => Object.assign(store, { find: (...asked: Parameters<typeof find>) => Effect.map(find(...asked), Option.map((secret) => ({ ...secret, now: secret.now + 18_000_000 }))) })),
      () => Effect.sync(() => Object.assign(store, { find }))
    )
    yield* secrets.put("acme", "s", { overlapSeconds: 100 })
    assert.deepStrictEqual((yield* versions).map((each) => each.signsUntil), [undefined, 18_100_000])
  }, Effect.scoped, inService))

  it.effect("revokes a leaked secret and older versions at once with an overlap of 0", Effect.fnUntraced(function*() {
    const { secrets, versions } = yield* setup
    for (let n = 0; n < 3; n++) yield* secrets.put("acme", "s", any)
    yield* secrets.put("acme", "s", { overlapSeconds: 0 })
    assert.lengthOf(yield* versions, 1)
  }, inService))

  it.effect("replaces a secret that cannot be opened only with an overlap of 0", Effect.fnUntraced(function*() {
    const { secrets, versions } = yield* setup
    yield* secrets.put("acme", "s", { client: "a", secret: given })
    const store = yield* SecretStore
    const stored = Option.getOrThrow(yield* store.find("acme", "s"))
    yield* store.put("acme", "s", { ...stored, versions: [{ sealed: Uint8Array.from([1, 2, 3]), signsUntil: undefined }] })
    for (const settings of [{}, { secret: given }, { overlapSeconds: 1 }, { rotate: false }]) {
      assert.strictEqual((yield* Effect.flip(secrets.put("acme", "s", settings)))._tag, "SecretUnreadable")
    }
    const replaced = yield* secrets.put("acme", "s", { secret: given, overlapSeconds: 0 })
    const [version, ...others] = yield* versions
    assert.deepStrictEqual([Redacted.value(replaced.secret), others], [given, []])
    assert.deepStrictEqual(yield* (yield* Sealer).open("acme/s", version!.sealed), parseSecret(given))
    assert.deepStrictEqual(Option.getOrThrow(yield* store.find("acme", "s")).owner, stored.owner)
  }, inService))

  it.effect("of a client belong to it by their id, and no other client may name them (SPEC-GAP-X3)", Effect.fnUntraced(function*() {
    const { secrets } = yield* setup
    yield* secrets.put("acme", secretOfClient("shipper"), {})
    const may = (client: string, id: string) =>
      secrets.mayName({ tenantId: "acme", client, roles: ["customer"], accounts: [], origin: "key" }, id)
    assert.isTrue(yield* may("shipper", "client:shipper"))
    assert.isTrue(yield* may("key:shipper", "client:shipper"))
    assert.isFalse(yield* may("other", "client:shipper"))
    assert.isFalse(yield* may("jwt:issuer:shipper", "client:shipper"))
    // the same secret for both forms of the client's name, and no other owner
    assert.strictEqual((yield* secrets.put("acme", "client:key:shipper", { client: "shipper" })).hmacSecretId, "client:shipper")
    for (const owner of [any, { accounts: ["A"] }, { client: "other" }, { client: "jwt:issuer:shipper" }]) {
      assert.strictEqual((yield* Effect.flip(secrets.put("acme", "client:shipper", owner)))._tag, "InvalidInput")
    }
    // a client named like a secret gets no access to it
    yield* secrets.put("acme", "main", { accounts: ["A"] })
    assert.notStrictEqual(secretOfClient("main"), "main")
    assert.isFalse(yield* may("main", "main"))
  }, inService))

  it.effect("have one owner from their creation: a call that names none or several is refused", Effect.fnUntraced(function*() {
    const { secrets, versions } = yield* setup
    const refused = (settings: object) =>
      Effect.map(Effect.flip(secrets.put("acme", "s", settings)), (error) => error._tag === "InvalidInput" ? error.faults.map(({ code, detail, pointer }) => [pointer, code, /client, accounts or anyClient/.test(detail)]) : error)
    assert.deepStrictEqual(yield* refused({}), [["", "required", true]])
    assert.deepStrictEqual(yield* refused({ client: "a", accounts: ["A"] }), [["/accounts", "conflict", true]])
    assert.deepStrictEqual(yield* refused({ client: "a", anyClient: true }), [["/anyClient", "conflict", true]])
    assert.deepStrictEqual(yield* refused({ accounts: [] }), [["/accounts", "out_of_bounds", true]])
    assert.deepStrictEqual(yield* refused({ anyClient: false }), [["/anyClient", "invalid", false]])
    // nothing was stored
    assert.deepStrictEqual((yield* secrets.list("acme", {})).data.map((each) => each.hmacSecretId), ["main"])
    yield* secrets.put("acme", "s", { client: "a" })
    yield* secrets.put("acme", "s", {})
    assert.deepStrictEqual(yield* refused({ client: "a", accounts: ["A"] }), [["/accounts", "conflict", true]])
    assert.lengthOf(yield* versions, 2)
    yield* secrets.put("acme", "s", { accounts: ["A"] })
    const [, listed] = (yield* secrets.list("acme", {})).data
    assert.deepStrictEqual([listed!.client, listed!.accounts, listed!.anyClient], [null, ["A"], false])
  }, inService))

  it.effect("change their owner without a rotation on request", Effect.fnUntraced(function*() {
    const { secrets, versions } = yield* setup
    yield* secrets.put("acme", "s", { client: "a", secret: given })
    const before = yield* versions
    const kept = yield* secrets.put("acme", "s", { client: "b", rotate: false, bodySignature: true })
    assert.deepStrictEqual([yield* versions, Redacted.value(kept.secret)], [before, given])
    const stored = Option.getOrThrow(yield* (yield* SecretStore).find("acme", "s"))
    assert.deepStrictEqual([stored.owner, stored.bodySignature, stored.rotatedAt], [{ _tag: "Client", client: "key:b" }, true, undefined])
    for (const more of [{ secret: given }, { overlapSeconds: 0 }]) {
      const refused = yield* Effect.flip(secrets.put("acme", "s", { rotate: false, ...more }))
      assert.deepStrictEqual(refused._tag === "InvalidInput" ? refused.faults.map((each) => each.pointer) : refused, [`/${Object.keys(more)[0]}`])
    }
    assert.strictEqual((yield* Effect.flip(secrets.put("acme", "unknown", { client: "a", rotate: false })))._tag, "SecretNotFound")
    assert.lengthOf((yield* secrets.list("acme", {})).data, 2)
  }, inService))

  it.effect("are listed with owner and times, and never with a secret", Effect.fnUntraced(function*() {
    const { secrets, tenant } = yield* setup
    const { secret } = yield* secrets.put("acme", "s", { client: "a" })
    yield* TestClock.adjust(5_000)
    yield* secrets.put("acme", "s", { overlapSeconds: 100 })
    yield* TestWaybill.subscribe(tenant, tenant.customer("c", ["A"]), { endpointUrl: "https://receiver.example/" })
    const page = yield* secrets.list("acme", {})
    const created = "1970-01-01T00:00:00.000Z"
    assert.deepStrictEqual(page, {
      data: [
        { hmacSecretId: "main", client: null, accounts: [], anyClient: true, createdAt: created, rotatedAt: null, signsUntil: null, usedBy: 1 },
        { hmacSecretId: "s", client: "key:a", accounts: [], anyClient: false, createdAt: created, rotatedAt: "1970-01-01T00:00:05.000Z", signsUntil: "1970-01-01T00:01:45.000Z", usedBy: 0 }
      ],
      nextCursor: null
    })
    assert.notInclude(JSON.stringify(page), Redacted.value(secret).slice(6))
    const first = yield* secrets.list("acme", { limit: 1 })
    const second = yield* secrets.list("acme", { limit: 1, cursor: first.nextCursor! })
    assert.deepStrictEqual([first.data, second.data, second.nextCursor], [page.data.slice(0, 1), page.data.slice(1), null])
    for (const cursor of ["", "a\nb"]) assert.strictEqual((yield* Effect.flip(secrets.list("acme", { cursor })))._tag, "InvalidInput")
  }, inService))

  it.effect("are deleted only when no subscription is signed with them", Effect.fnUntraced(function*() {
    const { secrets, tenant } = yield* setup
    const customer = tenant.customer("c", ["A"])
    const { id } = yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: "https://receiver.example/" })
    assert.strictEqual((yield* Effect.flip(secrets.remove("acme", "main")))._tag, "SecretInUse")
    yield* (yield* TransitSubscriptions).remove(customer, id)
    yield* secrets.remove("acme", "main")
    for (const gone of ["main", "never", "", "a\nb"]) assert.strictEqual((yield* Effect.flip(secrets.remove("acme", gone)))._tag, "SecretNotFound")
  }, inService))

  it.effect("are sealed again with the newest key, every version that signs, and lose nothing", Effect.fnUntraced(function*() {
    const { secrets } = yield* setup
    const store = yield* SecretStore
    const under = (...keys: readonly [number, ...ReadonlyArray<number>]) => {
      const [first, ...others] = keys.map((n) => Redacted.make(new Uint8Array(32).fill(n)))
      return Effect.provide(Layer.fresh(SigningSecrets.layer).pipe(Layer.provide(Sealer.layer([first!, ...others]))))
    }
    const reseal = Effect.flatMap(SigningSecrets, (each) => each.reseal("acme"))
    const kept = (id: string) => Effect.map(store.find("acme", id), Option.getOrThrow)
    yield* secrets.remove("acme", "main")
    const old = yield* Effect.gen(function*() {
      const own = yield* SigningSecrets
      const names = Array.from({ length: 120 }, (_, n) => `s${n}`)
      for (const id of names) yield* own.put("acme", id, { client: "a", bodySignature: true })
      const rotated = yield* own.put("acme", "s7", { secret: given, overlapSeconds: 100 })
      return { names, secret: Redacted.value(rotated.secret) }
    }).pipe(under(1))
    const before = yield* kept("s7")
    assert.deepStrictEqual(yield* reseal.pipe(under(2)), { resealed: 0, unchanged: 0, unreadable: old.names.toSorted().slice(0, 100) })
    assert.deepStrictEqual(yield* kept("s7"), before)
    assert.deepStrictEqual(yield* reseal.pipe(under(2, 1)), { resealed: 120, unchanged: 0, unreadable: [] })
    assert.deepStrictEqual(yield* reseal.pipe(under(2, 1)), { resealed: 0, unchanged: 120, unreadable: [] })
    const { versions, ...rest } = yield* kept("s7")
    assert.deepStrictEqual([rest, versions.map(({ signsUntil }) => signsUntil)], [(({ versions: _, ...others }) => others)(before), before.versions.map(({ signsUntil }) => signsUntil)])
    // without the old key the same secret still signs
    const again = yield* Effect.flatMap(SigningSecrets, (own) => own.put("acme", "s7", { rotate: false })).pipe(under(2))
    assert.strictEqual(Redacted.value(again.secret), given)
    assert.strictEqual((yield* Effect.flip(Effect.flatMap(SigningSecrets, (own) => own.reseal("nobody")))).
      _tag, "TenantNotFound")
  }, inService))

  it.effect("changes nothing when the same secret is put again", Effect.fnUntraced(function*() {
    const { secrets, versions } = yield* setup
    yield* secrets.put("acme", "s", { ...any, secret: given })
    const before = yield* versions
    yield* secrets.put("acme", "s", { secret: given, overlapSeconds: 0 })
    assert.deepStrictEqual(yield* versions, before)
  }, inService))

  it.effect("keeps the owner and the older signature when a rotation does not name them", Effect.fnUntraced(function*() {
    const { secrets } = yield* setup
    yield* secrets.put("acme", "s", { accounts: ["A"], bodySignature: true })
    yield* secrets.put("acme", "s", {})
    const stored = Option.getOrThrow(yield* (yield* SecretStore).find("acme", "s"))
    assert.deepStrictEqual([stored.owner, stored.bodySignature], [{ _tag: "Accounts", accounts: ["A"] }, true])
    yield* secrets.put("acme", "s", { anyClient: true, bodySignature: false })
    const changed = Option.getOrThrow(yield* (yield* SecretStore).find("acme", "s"))
    assert.deepStrictEqual([changed.owner, changed.bodySignature], [{ _tag: "AnyClient" }, false])
  }, inService))

  it.effect("keeps all of several concurrent rotations", Effect.fnUntraced(function*() {
    const { secrets, versions } = yield* setup
    yield* Effect.all(Array.from({ length: 3 }, () => secrets.put("acme", "s", any)), { concurrency: "unbounded" })
    const live = yield* versions
    assert.isAtLeast(live.length, 2)
    assert.lengthOf(live.filter((each) => each.signsUntil === undefined), 1)
  }, inService))

  it.effect("can be named by their owners only, also by a carrier that sees everything", Effect.fnUntraced(function*() {
    const { secrets, tenant } = yield* setup
    yield* secrets.put("acme", "bound", { accounts: ["A"] })
    yield* secrets.put("acme", "own", { client: "c" })
    yield* secrets.put("acme", "free", any)
    const ids = ["bound", "own", "free", "unknown"]
    const mayName = (who: Principal) => Effect.all(ids.map((id) => secrets.mayName(who, id)))
    assert.deepStrictEqual(yield* mayName(tenant.customer("c", ["A", "B"])), [true, true, true, false])
    assert.deepStrictEqual(yield* mayName(tenant.customer("d", ["B"])), [false, false, true, false])
    assert.deepStrictEqual(yield* mayName(tenant.customer("d", [])), [false, false, true, false])
    assert.deepStrictEqual(yield* mayName(tenant.carrier), [false, false, true, false])
    assert.deepStrictEqual(yield* mayName({ ...tenant.carrier, accounts: ["A"] }), [true, false, true, false])
  }, inService))

  it.effect("refuses an invalid secret, an invalid id and an unknown tenant", Effect.fnUntraced(function*() {
    const { secrets } = yield* setup
    for (const secret of ["", "whsec_", "password", given.slice(6), `${given}x`, 7, null]) {
      const refused = yield* Effect.flip(secrets.put("acme", "s", untyped({ ...any, secret })))
      assert.strictEqual(refused._tag, "InvalidInput")
      assert.notInclude(JSON.stringify(refused), given.slice(6, 30))
    }
    for (const id of ["", " x", "a\nb"]) assert.strictEqual((yield* Effect.flip(secrets.put("acme", id, any)))._tag, "InvalidInput")
    assert.strictEqual((yield* Effect.flip(secrets.put("nobody", "s", any)))._tag, "TenantNotFound")
    for (const overlapSeconds of [-1, 604_801, 1.5]) yield* Effect.flip(secrets.put("acme", "s", { ...any, overlapSeconds }))
  }, inService))

  it.effect.prop("handle arbitrary input", [json], Effect.fnUntraced(function*([input]) {
    const { secrets } = yield* setup
    const exit = yield* Effect.exit(secrets.put("acme", "s", untyped(input)))
    if (exit._tag === "Failure") assert.deepStrictEqual(exit.cause.reasons.map((reason) => reason._tag), ["Fail"])
  }, inService))
})

describe("Sealer", () => {
  const key = (n: number) => Redacted.make(new Uint8Array(32).fill(n))
  const plain = parseSecret(given)!
  const use = <A, E>(effect: Effect.Effect<A, E, Sealer>, ...keys: readonly [number, ...ReadonlyArray<number>]) =>
    Effect.provide(effect, Sealer.layer([key(keys[0]), ...keys.slice(1).map(key)]))
  const seal = Effect.flatMap(Sealer, (sealer) => sealer.seal("acme/s", plain))
  const open = (place: string, sealed: Uint8Array) => Effect.flatMap(Sealer, (sealer) => sealer.open(place, sealed))

  it.effect("opens a sealed secret only with its own tenant and id", Effect.fnUntraced(function*() {
    const sealed = yield* use(seal, 1)
    assert.deepStrictEqual(yield* use(open("acme/s", sealed), 1), plain)
    yield* Effect.flip(use(open("other/s", sealed), 1))
  }))

  it.effect("never seals the same secret to the same bytes", Effect.fnUntraced(function*() {
    assert.notDeepEqual(yield* use(seal, 1), yield* use(seal, 1))
  }))

  it.effect("opens with an older key, and seals with the newest", Effect.fnUntraced(function*() {
    const old = yield* use(seal, 1)
    assert.deepStrictEqual(yield* use(open("acme/s", old), 2, 1), plain)
    yield* Effect.flip(use(open("acme/s", old), 2))
    assert.deepStrictEqual(yield* use(open("acme/s", yield* use(seal, 2, 1)), 2), plain)
  }))

  it.effect("derives one key for each sealing key, another one for each purpose", Effect.fnUntraced(function*() {
    const derive = (purpose: string) => Effect.flatMap(Sealer, (sealer) => sealer.deriveKeys(purpose))
    const [first, second] = yield* use(derive("links"), 1, 2)
    assert.deepStrictEqual(yield* use(derive("links"), 2, 1), [second!, first!])
    const [other] = yield* use(derive("other"), 1)
    assert.strictEqual(first!.length, 32)
    assert.notDeepEqual(first, second!)
    assert.notDeepEqual(first, other!)
  }))

  it.effect("refuses bytes that were changed, truncated or never sealed", Effect.fnUntraced(function*() {
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
