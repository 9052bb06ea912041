import { forRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { addSequences, gapsBetween, type SequenceRange, SequencesInMemory } from "../../src/receiver/index.ts"

const numbersIn = (ranges: ReadonlyArray<SequenceRange>) =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index))

describe("addSequences", () => {
  it("contains exactly the added numbers, in any order and with any repetition", () => forRandom(300, (random) => {
    let ranges: ReadonlyArray<SequenceRange> = []
    const all = new Set<number>()
    for (let turn = 0; turn < 10; turn++) {
      const numbers = Array.from({ length: random.below(5) }, () => random.below(30))
      ranges = addSequences(ranges, numbers)
      numbers.forEach((number) => all.add(number))
      const sorted = [...all].sort((a, b) => a - b)
      expect(numbersIn(ranges)).toEqual(sorted)
      for (const [index, range] of ranges.slice(1).entries()) expect(range.from).toBeGreaterThan(ranges[index]!.to + 1)
      const gaps = Array.from({ length: 30 }, (_, number) => number).filter((number) => !all.has(number) && number > sorted[0]! && number < sorted.at(-1)!)
      expect(numbersIn(gapsBetween(ranges))).toEqual(gaps)
    }
  }))
})

describe("SequencesInMemory", () => {
  const add = (memory: SequencesInMemory, shipmentId: string, ...numbers: ReadonlyArray<number>) => memory.add(new Map([[shipmentId, numbers]]))

  it("has no numbers of an unknown shipment", async () => expect(await new SequencesInMemory().arrived(["S"])).toEqual(new Map()))

  it("evicts the least recently updated shipment", async () => {
    const memory = new SequencesInMemory({ shipments: 2 })
    await add(memory, "A", 1)
    await add(memory, "B", 1)
    await add(memory, "A", 2)
    await add(memory, "C", 1)
    expect([...(await memory.arrived(["A", "B", "C"])).keys()]).toEqual(["A", "C"])
  })

  it("stays small when a sender counts in steps, by dropping the lowest gaps", async () => {
    const memory = new SequencesInMemory({ gaps: 2 })
    await add(memory, "A", 0, 2, 4, 6, 8)
    expect((await memory.arrived(["A"])).get("A")).toEqual([{ from: 0, to: 4 }, { from: 6, to: 6 }, { from: 8, to: 8 }])
  })
})
