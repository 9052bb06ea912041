import { StorageError, type Tenant, Tenants } from "@waybill/core"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { makePublicTenant } from "../../src/access/PublicTenant.ts"

const tenant = (tenantId: string, ...hosts: ReadonlyArray<string>): Tenant => ({ tenantId, name: tenantId, hosts, state: "active" })

/** `ask` returns the tenant, or the status of the error. */
const withTenants = (list: () => ReadonlyArray<Tenant> | undefined, configured?: string) => {
  let lists = 0
  const tenants = Tenants.of({
    list: Effect.suspend(() => {
      lists += 1
      const now = list()
      return now === undefined ? Effect.fail(new StorageError({ operation: "listTenants", cause: undefined })) : Effect.succeed(now)
    }),
    admit: (tenantId) => Effect.sync(() => Option.fromUndefinedOr(list()?.find((each) => each.tenantId === tenantId))),
    suspend: () => Effect.die("not asked"),
    resume: () => Effect.die("not asked"),
    get: () => Effect.die("not asked"),
    put: () => Effect.die("not asked"),
    page: () => Effect.die("not asked")
  })
  return Effect.map(Effect.provideService(makePublicTenant(configured), Tenants, tenants), (find) => ({
    ask: (host?: string) =>
      Effect.match(find(host), { onSuccess: (tenantId) => tenantId, onFailure: (error) => error._tag === "Refused" ? error.problem.status : error._tag }),
    lists: () => lists
  }))
}

const run = <A>(effect: Effect.Effect<A>) => Effect.runPromise(Effect.provide(effect, TestClock.layer()))

describe("the tenant of a call without credentials (SPEC-GAP-A31)", () => {
  it("is the tenant of the requested host, regardless of case and port", Effect.fnUntraced(function*() {
    const { ask } = yield* withTenants(() => [tenant("acme", "track.acme.example"), tenant("bolt", "bolt.example", "www.bolt.example")], "acme")
    expect(yield* ask("track.acme.example")).toBe("acme")
    expect(yield* ask("WWW.Bolt.example:8443")).toBe("bolt")
    expect(yield* ask("bolt.example.")).toBe("bolt")
  }, run))

  it("is the first one of several that have the host", Effect.fnUntraced(function*() {
    const { ask } = yield* withTenants(() => [tenant("acme", "track.example"), tenant("bolt", "track.example")])
    expect(yield* ask("track.example")).toBe("acme")
  }, run))

  it("is the configured one for an unknown host", Effect.fnUntraced(function*() {
    const { ask } = yield* withTenants(() => [tenant("acme", "acme.example"), tenant("bolt")], "bolt")
    expect(yield* ask("localhost:8080")).toBe("bolt")
    expect(yield* ask(undefined)).toBe("bolt")
  }, run))

  it("is the only one if none is configured", Effect.fnUntraced(function*() {
    const { ask } = yield* withTenants(() => [tenant("acme", "acme.example")])
    expect(yield* ask("localhost")).toBe("acme")
  }, run))

  it("is not guessed: there is none with several tenants, with none, or if the configured one does not exist", Effect.fnUntraced(function*() {
    for (const [list, configured] of [[[tenant("acme"), tenant("bolt")], undefined], [[], undefined], [[tenant("acme")], "bolt"]] as const) {
      const { ask } = yield* withTenants(() => list, configured)
      expect(yield* ask("localhost")).toBe(404)
    }
  }, run))

  it("is loaded again after a few seconds, although the clock was set back, and not for every call", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(3 * 3_600_000)
    let list = [tenant("acme")]
    const { ask, lists } = yield* withTenants(() => list)
    yield* Effect.forEach(Array.from({ length: 20 }), () => ask("localhost"))
    expect(lists()).toBe(1)
    list = [tenant("acme"), tenant("bolt", "bolt.example")]
    expect(yield* ask("bolt.example")).toBe("acme")
    yield* TestClock.setTime(0)
    yield* TestClock.adjust("5 seconds")
    expect(yield* ask("bolt.example")).toBe("bolt")
    expect(lists()).toBe(2)
  }, run))

  it("is none that was deleted a moment ago, although it is still known", Effect.fnUntraced(function*() {
    let list = [tenant("acme")]
    const { ask } = yield* withTenants(() => list)
    expect(yield* ask("localhost")).toBe("acme")
    list = []
    expect(yield* ask("localhost")).toBe(404)
  }, run))

  it("is loaded again at once after a storage failure", Effect.fnUntraced(function*() {
    let list: ReadonlyArray<Tenant> | undefined = undefined
    const { ask } = yield* withTenants(() => list)
    expect(yield* ask("localhost")).toBe("StorageError")
    list = [tenant("acme")]
    expect(yield* ask("localhost")).toBe("acme")
    yield* TestClock.adjust("5 seconds")
    list = undefined
    expect(yield* ask("localhost")).toBe("StorageError")
    list = [tenant("bolt")]
    expect(yield* ask("localhost")).toBe("bolt")
  }, run))
})
