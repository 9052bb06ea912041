import { assert, describe, it } from "@effect/vitest"
import { checkInput, decodeInput, mapPaced, nextTurn, readInput } from "@waybill/core"
import { Effect, Fiber, Result, Schema } from "effect"
import * as Clock from "effect/Clock"

/** Items that must be even, with a count of those that were decoded. */
const counting = (limit: number) => {
  const seen = { items: 0 }
  const item = Schema.Struct({
    n: Schema.Int.check(Schema.makeFilter((n: number) => {
      seen.items += 1
      return n % 2 === 0 ? undefined : "Even numbers only."
    }))
  })
  return { seen, schema: Schema.Struct({ list: Schema.optionalKey(Schema.NullOr(Schema.Array(item).check(Schema.isMaxLength(limit, { message: `At most ${limit}.` })))) }) }
}

const numbers = (count: number, of: (n: number) => number) => ({ list: Array.from({ length: count }, (_, n) => ({ n: of(n) })) })

/** A clock that advances by a millisecond per read. */
const busyClock = Effect.map(Clock.Clock, (clock): Clock.Clock => {
  let nanos = 0n
  return Object.assign(Object.create(clock), { monotonicTimeNanosUnsafe: () => nanos += 1_000_000n })
})

/** How often other work ran during the effect. */
const turnsOf = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    let turns = 0
    const others = yield* Effect.forkChild(Effect.forever(Effect.andThen(nextTurn, Effect.sync(() => turns += 1))))
    yield* Effect.provideService(effect, Clock.Clock, yield* busyClock)
    yield* Fiber.interrupt(others)
    return turns
  })

describe("decoding input", () => {
  it.effect("decodes no item of a list that is too long, and reports nothing else", Effect.fnUntraced(function*() {
    const { schema, seen } = counting(100)
    const { faults } = yield* Effect.flip(decodeInput(schema)({ ...numbers(1_000_000, () => 1) }, ["body"]))
    assert.deepStrictEqual(faults, [{ pointer: "/body/list", detail: "At most 100.", code: "out_of_bounds" }])
    assert.strictEqual(seen.items, 0)
  }))

  it.effect("decodes no further item after 100 faults", Effect.fnUntraced(function*() {
    const { schema, seen } = counting(10_000)
    const { faults } = yield* Effect.flip(decodeInput(schema)(numbers(10_000, () => 1)))
    assert.lengthOf(faults, 100)
    assert.strictEqual(faults[99]!.pointer, "/list/99/n")
    assert.strictEqual(seen.items, 100)
  }))

  it.effect("counts the faults of nested lists once", Effect.fnUntraced(function*() {
    const inner = Schema.Array(Schema.Int).check(Schema.isMaxLength(50))
    const decode = decodeInput(Schema.Array(Schema.Struct({ inner })).check(Schema.isMaxLength(50)))
    const { faults } = yield* Effect.flip(decode(Array.from({ length: 50 }, () => ({ inner: ["a", "b"] }))))
    assert.lengthOf(faults, 100)
    assert.strictEqual(faults[99]!.pointer, "/49/inner/1")
  }))

  it.effect("reports the same faults synchronously and in slices", Effect.fnUntraced(function*() {
    const { schema } = counting(10)
    const [all, sliced] = [readInput(schema), decodeInput(schema)]
    for (const input of [{}, { list: null }, { list: "text" }, { list: [null] }, numbers(4, (n) => n), numbers(4, (n) => 2 * n), numbers(11, () => 0), null]) {
      assert.deepStrictEqual(all(input), yield* Effect.result(sliced(input)))
    }
  }))

  it.effect("yields to other work, with the same result", Effect.fnUntraced(function*() {
    const { schema } = counting(1000)
    const input = numbers(1000, (n) => 2 * n)
    assert.deepStrictEqual(yield* decodeInput(schema)(input), input)
    assert.isAtLeast(yield* turnsOf(decodeInput(schema)(input)), 50)
  }))
})

describe("mapPaced", () => {
  it.effect("maps in order and yields to other work", Effect.fnUntraced(function*() {
    const items = Array.from({ length: 500 }, (_, n) => n)
    assert.deepStrictEqual(yield* mapPaced(items, (n, at) => [n, at]), items.map((n) => [n, n]))
    assert.isAtLeast(yield* turnsOf(mapPaced(items, (n) => n)), 20)
  }))

  it.effect("reads items of a call like whole input, valid or not", Effect.fnUntraced(function*() {
    const schema = Schema.Struct({
      at: Schema.optionalKey(Schema.NumberFromString),
      names: Schema.Array(Schema.String).check(Schema.isMaxLength(2)),
      rest: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
    })
    const inputs = [
      { names: [] }, { names: ["a"], at: "12", rest: { a: 1, __proto__: { b: 2 } }, unknown: true }, { names: ["a", "b", "c"] },
      { names: ["a", 1] }, { names: [1, 2], at: {} }, { at: "1" }, [], null
    ]
    for (const options of [undefined, { closed: true }]) {
      const [item, whole] = [readInput(schema, options), decodeInput(schema, options)]
      for (const input of inputs) assert.deepStrictEqual(item(input, ["events", 3]), yield* Effect.result(whole(input, ["events", 3])))
    }
  }))

  it("checks valid input without a copy, and finds the same faults", () => {
    const schema = Schema.Struct({ name: Schema.String, names: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(2))) })
    const [check, read] = [checkInput(schema), readInput(schema)]
    const valid = { name: "a", names: ["b"], unknown: { kept: true } }
    assert.strictEqual(Result.getOrThrow(check(valid)), valid)
    for (const input of [{ name: 1 }, { name: "a", names: [1, 2] }, { name: "a", names: ["b", "c", "d"] }, [], null]) {
      assert.isTrue(Result.isFailure(check(input)))
      assert.deepStrictEqual(check(input, ["events", 3]), read(input, ["events", 3]))
    }
  })
})
