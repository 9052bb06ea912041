import { assert, describe, it } from "@effect/vitest"
import { type ClaimedEntry, type ClaimedDestination, closedBreaker, defaultPolicy, type DueDelivery, eventBatchEnvelope, planDestination } from "@waybill/core"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../arbitraries.ts"

const now = 1_763_600_000_000

const entry = (key: string, sequence: number): ClaimedEntry => ({
  ref: sequence,
  key,
  sequence,
  orderId: `${key}/${sequence}`,
  size: 10,
  payload: new Uint8Array(10),
  traceparent: undefined
})

const due = (deliveryId: string, parts: Partial<DueDelivery> = {}): DueDelivery => ({
  deliveryId,
  sentAt: now,
  attempt: 1,
  tries: 1,
  orphaned: false,
  events: 1,
  payloads: [],
  traceparent: undefined,
  ...parts
})

const destination = (parts: Partial<ClaimedDestination> = {}): ClaimedDestination => ({
  destinationId: "destination",
  client: "client",
  token: 1,
  endpointUrl: "https://receiver.example/",
  hmacSecretId: "main",
  secrets: [],
  bodySignature: false,
  secretRefused: false,
  signing: "required",
  whenDead: "goOn",
  policy: defaultPolicy,
  envelope: eventBatchEnvelope,
  breaker: closedBreaker,
  rateMark: undefined,
  arrivals: 0,
  due: [],
  waiting: [],
  more: false,
  ...parts
})

const limits = { room: 16, underWay: 0, maxBatchBytes: 1_000_000 }
const open = { failures: 5, openUntil: now + 4000 }
const halfOpen = { failures: 5, openUntil: now }
const backlog = ["a", "b", "c", "d"].flatMap((key) => [entry(key, 1), entry(key, 2), entry(key, 3)])

describe("planDestination", () => {
  it("sends retries before new batches", () => {
    const plan = planDestination(destination({ due: [due("1"), due("2")], waiting: backlog }), now, { ...limits, room: 3 })
    assert.deepStrictEqual([plan.again.map((each) => each.deliveryId), plan.batches.length], [["1", "2"], 1])
  })

  it("starts nothing while the breaker is open, however much waits", () => {
    const policy = { ...defaultPolicy, batchMaxSize: 1 }
    const plan = planDestination(destination({ breaker: open, policy, due: [due("1")], waiting: backlog }), now, limits)
    assert.deepStrictEqual([plan.again, plan.batches, plan.notBeforeMillis, plan.more], [[], [], 4000, true])
  })

  it("starts exactly one attempt when the breaker is half open: the retry", () => {
    const policy = { ...defaultPolicy, batchMaxSize: 1 }
    const plan = planDestination(destination({ breaker: halfOpen, policy, due: [due("1"), due("2")], waiting: backlog }), now, limits)
    assert.deepStrictEqual([plan.again.map((each) => each.deliveryId), plan.batches, plan.more], [["1"], [], true])
  })

  it("keeps a short last batch back while more waits behind it, and sends it when nothing does", () => {
    const waiting = ["a", "b", "c", "d", "e"].map((key) => entry(key, 1))
    const policy = { ...defaultPolicy, batchMaxSize: 2 }
    const sizes = (more: boolean) => planDestination(destination({ policy, waiting, more }), now, limits).batches.map((batch) => batch.length)
    assert.deepStrictEqual([sizes(true), sizes(false)], [[2, 2], [2, 2, 1]])
  })

  it("sends a short batch when it is the only one, whatever waits behind it", () => {
    const policy = { ...defaultPolicy, batchMaxSize: 20 }
    assert.lengthOf(planDestination(destination({ policy, waiting: backlog, more: true }), now, limits).batches, 1)
  })

  it("probes with a new batch where no retry is left", () => {
    const plan = planDestination(destination({ breaker: halfOpen, policy: { ...defaultPolicy, batchMaxSize: 2 }, waiting: backlog }), now, limits)
    assert.lengthOf(plan.batches, 1)
  })

  it("starts no second probe beside the first", () => {
    const plan = planDestination(destination({ breaker: halfOpen, waiting: backlog }), now, { ...limits, underWay: 1 })
    assert.deepStrictEqual([plan.again, plan.batches, plan.more], [[], [], true])
  })

  it("says when the rate allows the next, and remembers what it took", () => {
    const policy = { ...defaultPolicy, batchMaxSize: 1, rateLimitPerMinute: 2 }
    const first = planDestination(destination({ policy, waiting: backlog }), now, limits)
    assert.deepStrictEqual([first.batches.length, first.more, first.notBeforeMillis], [1, true, 30_000])
    const early = planDestination(destination({ policy, waiting: backlog, rateMark: first.rateMark }), now + 29_999, limits)
    assert.deepStrictEqual([early.batches.length, early.notBeforeMillis], [0, 1])
    assert.lengthOf(planDestination(destination({ policy, waiting: backlog, rateMark: first.rateMark }), now + 30_000, limits).batches, 1)
  })

  it("gives up deliveries whose every sender died, and counts them as no attempt", () => {
    const plan = planDestination(destination({ due: [due("poison", { orphaned: true, tries: 99 }), due("2", { orphaned: true, tries: 12 })] }), now, limits)
    assert.deepStrictEqual(plan.hopeless.map((each) => each.deliveryId), ["poison"])
    assert.deepStrictEqual(plan.again.map((each) => each.deliveryId), ["2"])
  })

  it("says where the next claim looks on", () => {
    const plan = planDestination(destination({ waiting: backlog, policy: { ...defaultPolicy, batchMaxSize: 3 } }), now, { ...limits, room: 2 })
    assert.deepStrictEqual([plan.cursor, plan.more], ["b", true])
    assert.isUndefined(planDestination(destination({ due: [due("1")] }), now, limits).cursor)
  })

  it.prop(
    "never starts more than there is room for, and never forgets what it left behind",
    [Arbitrary.all({
      dues: listOf(oneOf(["x", "y"]), 0, 6),
      entries: listOf(oneOf(["a", "b", "c", "d", "e"]), 0, 12),
      batchMaxSize: int(1, 4),
      room: int(0, 5),
      underWay: int(0, 3),
      breaker: oneOf([closedBreaker, open, halfOpen]),
      perMinute: oneOf([1, 10, 600])
    })],
    ([each]) => {
      const waiting = each.entries.map((key, n) => entry(key, n)).sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : a.sequence - b.sequence)
      const claimed = destination({
        due: each.dues.map((_, n) => due(String(n))),
        waiting,
        breaker: each.breaker,
        policy: { ...defaultPolicy, batchMaxSize: each.batchMaxSize, rateLimitPerMinute: each.perMinute }
      })
      const plan = planDestination(claimed, now, { room: each.room, underWay: each.underWay, maxBatchBytes: 1000 })
      const started = plan.again.length + plan.batches.length
      assert.isAtMost(started, each.room)
      if (each.breaker === open) assert.strictEqual(started, 0)
      if (each.breaker === halfOpen) assert.isAtMost(started, each.underWay > 0 ? 0 : 1)
      const left = each.dues.length - plan.again.length + waiting.length - plan.batches.flat().length
      assert.strictEqual(plan.more, left > 0)
    }
  )
})
