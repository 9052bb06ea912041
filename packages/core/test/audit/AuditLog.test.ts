import { assert, describe, it } from "@effect/vitest"
import { type AuditCall, AuditLog, type AuditRecord, AuditStore, StorageError } from "@waybill/core"
import { Context, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { inService } from "../inService.ts"

const call = (requestId: string): AuditCall =>
  ({ actor: { kind: "client", name: "key:carrier" }, address: undefined, action: "event.publish", tenantId: "acme", object: { kind: "event", id: "" }, requestId })

/** An audit log over a store that records, and what it logs. */
const recorded = Effect.gen(function*() {
  const [written, lines]: [Array<AuditRecord>, Array<string>] = [[], []]
  const store = AuditStore.of({ ...(yield* AuditStore), put: (records) => Effect.sync(() => void written.push(...records)) })
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
  const logOver = (over: AuditStore["Service"]) => Effect.map(Layer.build(Layer.fresh(AuditLog.layer)), Context.get(AuditLog)).pipe(Effect.provideService(AuditStore, over))
  return { lines, log: logOver(store), logOver, logger, written }
})

describe("entries of intake calls", () => {
  it.effect("are written together within a second, and one of equal refusals", Effect.fnUntraced(function*() {
    const { log, written } = yield* recorded
    const { later } = yield* log
    for (const [requestId, status] of [["1", 200], ["2", 403], ["3", 403], ["4", 400], ["4 again", 400]] as const) yield* later(call(requestId), { status })
    assert.deepStrictEqual(written, [])
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(written.map(({ requestId, result }) => `${requestId} ${result}`), ["1 ok", "2 refused", "4 refused"])
    yield* later(call("5"), { status: 403 })
    yield* TestClock.adjust("1 second")
    assert.lengthOf(written, 4)
  }, Effect.scoped, inService))

  it.effect("are written when the service stops", Effect.fnUntraced(function*() {
    const { log, written } = yield* recorded
    yield* Effect.scoped(Effect.flatMap(log, ({ later }) => later(call("1"), { status: 200 })))
    assert.lengthOf(written, 1)
  }, inService))

  it.effect("are bounded in number, and what is lost is counted in the log", Effect.fnUntraced(function*() {
    const { lines, log, logger, written } = yield* recorded
    yield* Effect.provide(
      Effect.scoped(Effect.flatMap(log, ({ later }) => Effect.forEach(Array.from({ length: 10_003 }, (_, n) => n), (n) => later(call(String(n)), { status: 200 })))),
      logger
    )
    assert.lengthOf(written, 10_000)
    assert.deepStrictEqual(lines, ["Audit log full: 3 entries of intake calls lost."])
  }, inService))

  it.effect("are written for a tenant although those of another cannot be, which are counted in the log", Effect.fnUntraced(function*() {
    const { lines, logger, logOver, written } = yield* recorded
    const store = AuditStore.of({
      ...(yield* AuditStore),
      put: (records) => records.some(({ tenantId }) => tenantId === "acme") ? Effect.fail(new StorageError({ operation: "AuditStore.put", cause: "broken" })) : Effect.sync(() => void written.push(...records))
    })
    const putAll = ({ later }: AuditLog["Service"]) => Effect.forEach(["acme", "acme", "bolt"], (tenantId, n) => later({ ...call(String(n)), tenantId }, { status: 200 }))
    yield* Effect.scoped(Effect.flatMap(logOver(store), putAll)).pipe(Effect.provide(logger))
    assert.deepStrictEqual(written.map(({ tenantId }) => tenantId), ["bolt"])
    assert.lengthOf(lines, 1)
    assert.include(lines[0]!, "Audit log write failed: 2 entries of intake calls lost.")
  }, inService))

  it.effect("are written once the database is back", Effect.fnUntraced(function*() {
    const { lines, logger, logOver, written } = yield* recorded
    let isAway = true
    const store = AuditStore.of({
      ...(yield* AuditStore),
      put: (records) => isAway ? Effect.fail(new StorageError({ operation: "AuditStore.put", cause: "away" })) : Effect.sync(() => void written.push(...records))
    })
    yield* Effect.provide(Effect.scoped(Effect.gen(function*() {
      const { later } = yield* logOver(store)
      yield* later(call("1"), { status: 200 })
      yield* TestClock.adjust("3 seconds")
      yield* later(call("2"), { status: 200 })
      yield* TestClock.adjust("3 seconds")
      isAway = false
      yield* TestClock.adjust("1 second")
    })), logger)
    assert.deepStrictEqual(written.map(({ requestId }) => requestId), ["1", "2"])
    assert.isNotEmpty(lines)
    assert.isTrue(lines.every((line) => line.startsWith("Audit log write failed, trying again.")))
  }, inService))

  it.effect("do not fill the log while the database is away for long", Effect.fnUntraced(function*() {
    const { lines, logger, logOver } = yield* recorded
    const store = AuditStore.of({ ...(yield* AuditStore), put: () => Effect.fail(new StorageError({ operation: "AuditStore.put", cause: "away" })) })
    yield* Effect.provide(Effect.scoped(Effect.gen(function*() {
      const { later } = yield* logOver(store)
      yield* later(call("1"), { status: 200 })
      yield* TestClock.adjust("59 seconds")
      assert.lengthOf(lines, 10)
    })), logger)
  }, inService))

  it.effect("have plain text of at most 500 characters", Effect.fnUntraced(function*() {
    const { log, written } = yield* recorded
    yield* Effect.scoped(Effect.flatMap(log, ({ later }) => later(call("a\u0000".repeat(600)), { status: 200 })))
    assert.strictEqual(written[0]?.requestId, "a?".repeat(250))
  }, inService))
})

describe("a list of one actor", () => {
  it.effect("has the calls of an operator and of the API key client that a bare name means, newest first over its pages", Effect.fnUntraced(function*() {
    const { logOver } = yield* recorded
    const { later, list } = yield* logOver(yield* AuditStore)
    yield* later(call("1"), { status: 200 })
    yield* later({ ...call("2"), actor: { kind: "operator", name: "carrier" } }, { status: 200 })
    yield* later({ ...call("3"), actor: { kind: "client", name: "key:carrier-2" } }, { status: 200 })
    yield* later(call("4"), { status: 200 })
    yield* TestClock.adjust("1 second")
    const requests = (actor: string) => Effect.map(list({ actor }), ({ data }) => data.map(({ requestId }) => requestId))
    assert.deepStrictEqual(yield* requests("carrier"), ["4", "2", "1"])
    assert.deepStrictEqual(yield* requests("key:carrier"), ["4", "1"])
    const first = yield* list({ actor: "carrier", limit: 2 })
    assert.deepStrictEqual((yield* list({ actor: "carrier", limit: 2, cursor: first.nextCursor! })).data.map(({ requestId }) => requestId), ["1"])
  }, Effect.scoped, inService))
})
