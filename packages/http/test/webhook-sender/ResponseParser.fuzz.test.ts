import { SeededRandom } from "@waybill/conformance/fixtures"
import { afterAll, assert, describe, it } from "vitest"
import { differenceOf, differences } from "./ResponseDifferences.ts"
import { responseOf } from "./ResponseSamples.ts"
import { type Verdict, verdictOf, verdictOfUndici } from "./ResponseVerdict.ts"

/** The long form is `npm run proof -- fuzzing`. `WAYBILL_FUZZ_SEED=response:1234` judges and shows one response, `=500000` starts at another seed. */
const isLong = process.env["WAYBILL_PROOF"] === "long"
const seed = process.env["WAYBILL_FUZZ_SEED"] ?? "1"
const asked = /^response:(\d+)$/.exec(seed)?.[1]
const [first, count] = asked === undefined ? [/^\d+$/.test(seed) ? Number(seed) : 1, isLong ? 100_000 : 3_000] : [Number(asked), 1]

const isSame = (one: Verdict, other: Verdict): boolean =>
  one.ended === other.ended && one.status === other.status && one.retryAfter === other.retryAfter && one.location === other.location &&
  one.date === other.date && one.body === other.body && one.reusable === other.reusable

const shown = (...values: ReadonlyArray<unknown>): string => values.map((value) => JSON.stringify(value)).join("\n")

describe("ResponseParser and undici", () => {
  let judged = 0
  let different = 0
  afterAll(() => {
    if (isLong) process.stdout.write(`fuzzing: ${judged} responses judged by our parser and undici, ${different} explained differences\n`)
  })

  it("judge generated and mutated responses alike, except for the listed differences", async () => {
    const unexplained: Array<string> = []
    let complete = 0
    for (let seed = first; seed < first + count && unexplained.length < 10; seed++) {
      const pieces = responseOf(new SeededRandom(seed))
      const text = Buffer.concat(pieces).toString("latin1")
      const [ours, theirs] = [verdictOf(pieces), await verdictOfUndici(pieces)]
      judged += 1
      if (ours.ended === "complete") complete += 1
      if (asked !== undefined) process.stdout.write(`${shown(pieces.map((piece) => piece.toString("latin1")), ours, theirs)}\n`)
      if (isSame(ours, theirs)) continue
      different += 1
      if (differenceOf(text, ours, theirs) === undefined) unexplained.push(`WAYBILL_FUZZ_SEED=response:${seed}\n${shown(text, ours, theirs)}`)
    }
    assert.isEmpty(unexplained, unexplained.join("\n\n"))
    // Responses of one kind only would show nothing.
    if (asked === undefined) assert.isTrue(complete > count / 5 && complete < count * 4 / 5, `${complete} of ${count} are complete`)
  }, 600_000)

  it("judge a response alike wherever it is cut", () => {
    for (let seed = first; seed < first + count; seed++) {
      const pieces = responseOf(new SeededRandom(seed))
      const whole = Buffer.concat(pieces)
      const verdict = verdictOf([whole])
      assert.deepStrictEqual(verdictOf(pieces), verdict, `WAYBILL_FUZZ_SEED=response:${seed}`)
      assert.deepStrictEqual(verdictOf(Array.from(whole, (byte) => Buffer.of(byte))), verdict, `WAYBILL_FUZZ_SEED=response:${seed}`)
    }
  }, 600_000)

  for (const difference of differences) {
    it(`differ: ${difference.what}`, async () => {
      const pieces = [Buffer.from(difference.example, "latin1")]
      const [ours, theirs] = [verdictOf(pieces), await verdictOfUndici(pieces)]
      assert.isFalse(isSame(ours, theirs), shown(ours, theirs))
      assert.strictEqual(differenceOf(difference.example, ours, theirs), difference)
    })
  }
})
