import { assert, describe, it } from "@effect/vitest"
import { AccessStore, StorageError } from "@waybill/core"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { makeKeyUses } from "../../src/access/KeyUses.ts"
import { inService } from "../inService.ts"

/** Notes uses over a store that records them as `tenant id at`. */
const recorded = Effect.gen(function*() {
  const written: Array<string> = []
  const store = AccessStore.of({
    ...(yield* AccessStore),
    touchKeys: (tenantId, uses) => Effect.sync(() => void written.push(...uses.map(({ at, id }) => `${tenantId} ${id} ${at}`)))
  })
  return { note: makeKeyUses(store), written }
})

describe("the last uses of keys", () => {
  it.effect("are written once a minute, each with its latest time", Effect.fnUntraced(function*() {
    const { note: make, written } = yield* recorded
    const note = yield* make
    yield* note("acme", "1", "key:a")
    yield* TestClock.adjust("30 seconds")
    yield* note("acme", "1", "key:a")
    yield* note("bolt", "2", "key:b")
    assert.deepStrictEqual(written, [])
    yield* TestClock.adjust("30 seconds")
    assert.deepStrictEqual(written, ["acme 1 30000", "bolt 2 30000"])
    yield* TestClock.adjust("1 minute")
    assert.lengthOf(written, 2)
  }, Effect.scoped, inService))

  it.effect("are written when the service stops", Effect.fnUntraced(function*() {
    const { note: make, written } = yield* recorded
    yield* Effect.scoped(Effect.flatMap(make, (note) => note("acme", "1", "key:a")))
    assert.deepStrictEqual(written, ["acme 1 0"])
  }, inService))

  it.effect("are written for a tenant although those of another cannot be", Effect.fnUntraced(function*() {
    const written: Array<string> = []
    const store = AccessStore.of({
      ...(yield* AccessStore),
      touchKeys: (tenantId) => tenantId === "acme" ? Effect.fail(new StorageError({ operation: "AccessStore.touchKeys", cause: "broken" })) : Effect.sync(() => void written.push(tenantId))
    })
    yield* Effect.scoped(Effect.flatMap(makeKeyUses(store), (note) => Effect.andThen(note("acme", "1", "key:a"), note("bolt", "2", "key:b"))))
    assert.deepStrictEqual(written, ["bolt"])
  }, inService, Effect.provide(Logger.layer([]))))

  it.effect("are of at most 10,000 keys a minute", Effect.fnUntraced(function*() {
    const { note: make, written } = yield* recorded
    yield* Effect.scoped(Effect.flatMap(make, (note) => Effect.forEach(Array.from({ length: 10_001 }, (_, n) => n), (n) => note("acme", String(n), "key:a"))))
    assert.lengthOf(written, 10_000)
  }, inService))
})
