import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { LineLimiter, linesPerMinute, mostNames } from "../../src/shared/LineLimiter.ts"

const recorded = () => {
  const lines: Array<readonly [string, Readonly<Record<string, unknown>>]> = []
  const logger = Logger.layer([Logger.map(Logger.formatStructured, ({ annotations, message }) => void lines.push([String(message), annotations]))])
  return { lines, logger }
}

it.effect("a line is logged a few times a minute, then counted; the count is logged with the next line", () => {
  const { lines, logger } = recorded()
  return Effect.gen(function*() {
    const limiter = new LineLimiter()
    const fail = (name: string) => limiter.log(name, Effect.logError(name))
    for (let n = 0; n < linesPerMinute + 983; n++) yield* fail("storage")
    yield* fail("desk")
    assert.deepStrictEqual(lines.map(([line]) => line), [...Array.from({ length: linesPerMinute }, () => "storage"), "desk"])
    lines.length = 0
    yield* TestClock.adjust("1 minute")
    yield* fail("desk")
    assert.deepStrictEqual(lines, [["Log line repeated 983 more times in one minute.", { line: "storage", repeated: 983 }], ["desk", {}]])
    yield* fail("storage")
    assert.strictEqual(lines.at(-1)![0], "storage")
  }).pipe(Effect.provide(logger))
})

it.effect("any number of names takes bounded memory and lines", () => {
  const { lines, logger } = recorded()
  return Effect.gen(function*() {
    const limiter = new LineLimiter()
    for (let n = 0; n < 3 * mostNames; n++) yield* limiter.log(`name ${n}`, Effect.logError("x"))
    assert.strictEqual(limiter.size, mostNames + 1)
    assert.lengthOf(lines, mostNames + linesPerMinute)
  }).pipe(Effect.provide(logger))
})
