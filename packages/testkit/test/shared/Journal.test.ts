import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { Journal, lowerBound } from "../../src/shared/Journal.ts"

const changes = Arbitrary.array(
  Arbitrary.schema(Schema.Struct({
    what: Schema.Literals(["set", "put", "drop", "add", "remove", "insert", "take"]),
    n: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))
  })),
  { maxLength: 40 }
)

const make = () => ({ journal: new Journal(), object: { a: 0, b: 0 }, map: new Map([[0, 0]]), set: new Set([0]), list: [0] })

type World = ReturnType<typeof make>

const apply = ({ journal, list, map, object, set }: World, { n, what }: { readonly what: string; readonly n: number }): void => {
  if (what === "set") journal.set(object, n % 2 === 0 ? "a" : "b", n)
  if (what === "put") journal.put(map, n, n * 2)
  if (what === "drop") journal.drop(map, n)
  if (what === "add") journal.add(set, n)
  if (what === "remove") journal.remove(set, n)
  if (what === "insert") journal.insert(list, n % (list.length + 1), n)
  if (what === "take" && list.length > 0) journal.take(list, n % list.length)
}

const pictureOf = ({ list, map, object, set }: World) => JSON.stringify([object, [...map].sort(), [...set].sort(), list])

describe("Journal", () => {
  it.prop("undoes everything since a mark, and nothing before it", [changes, changes], ([kept, undone]) => {
    const world = make()
    for (const change of kept) apply(world, change)
    const before = pictureOf(world)
    const { entries, mark } = world.journal
    for (const change of undone) apply(world, change)
    world.journal.rewindTo(mark)
    assert.strictEqual(pictureOf(world), before)
    assert.strictEqual(world.journal.entries, entries)
    world.journal.rewindTo(0)
    assert.strictEqual(pictureOf(world), pictureOf(make()))
  })

  it("does not undo kept changes", () => {
    const world = make()
    world.journal.set(world.object, "a", 7)
    world.journal.forget()
    world.journal.rewindTo(0)
    assert.strictEqual(world.object.a, 7)
  })

  it.prop("reads the kept state while changes are open, and then has them again", [changes, changes], ([kept, open]) => {
    const world = make()
    const { journal } = world
    for (const change of kept) apply(world, change)
    journal.forget()
    const before = pictureOf(world)
    for (const change of open) apply(world, change)
    journal.asRecord(() => {
      for (const change of open) apply(world, change)
    })
    const after = [pictureOf(world), journal.entries, journal.mark]
    assert.deepStrictEqual(journal.readKept(() => pictureOf(world)), { answer: before })
    assert.isUndefined(journal.readKept(() => journal.set(world.object, "a", -1)))
    assert.deepStrictEqual([pictureOf(world), journal.entries, journal.mark], after)
    journal.rewindTo(0)
    assert.strictEqual(pictureOf(world), before)
  })

  it.prop("counts kept changes, and added minus removed elements", [changes, changes], ([kept, undone]) => {
    const { journal, list, map, object, set } = make()
    const world = { journal, list, map, object, set }
    const sizeOf = () => list.length + map.size + set.size
    const before = sizeOf()
    for (const change of kept) apply(world, change)
    const done = journal.mark
    assert.strictEqual(journal.kept, 0)
    journal.forget()
    for (const change of undone) apply(world, change)
    journal.rewindTo(0)
    journal.forget()
    assert.strictEqual(journal.kept, done)
    assert.strictEqual(journal.entries, sizeOf() - before)
  })
})

describe("a crash", () => {
  const crash = (world: World, transactions: ReadonlyArray<{ readonly n: number; readonly flushed: boolean }>, newest?: number) => {
    for (const { flushed, n } of transactions) {
      world.journal.put(world.map, n, n)
      world.journal.forget(flushed)
    }
    return [world.journal.lose(newest), [...world.map.keys()].slice(1)] as const
  }
  const all = [{ n: 1, flushed: false }, { n: 2, flushed: true }, { n: 3, flushed: false }, { n: 4, flushed: false }]

  it("loses the transactions that are not flushed, since the last that is", () => {
    assert.deepStrictEqual(crash(make(), all), [2, [1, 2]])
    assert.deepStrictEqual(crash(make(), all, 1), [1, [1, 2, 3]])
    assert.deepStrictEqual(crash(make(), all, 0), [0, [1, 2, 3, 4]])
  })

  it("loses no transaction of before an earlier crash", () => {
    const world = make()
    crash(world, all, 1)
    assert.deepStrictEqual(crash(world, []), [0, [1, 2, 3]])
  })

  it("loses the transactions in reverse order, and those that changed nothing", () => {
    const world = make()
    for (const n of [1, 1, 2]) {
      world.journal.set(world.object, "a", n)
      world.journal.forget(false)
    }
    world.journal.forget()
    assert.deepStrictEqual([world.journal.lose(2), world.object.a], [2, 1])
  })
})

describe("records of calls in a journal", () => {
  it.prop("are undone like other changes, and are not counted", [changes, changes], ([kept, undone]) => {
    const world = make()
    const { journal } = world
    for (const change of kept) journal.asRecord(() => journal.asRecord(() => apply(world, change)))
    journal.forget()
    assert.deepStrictEqual([journal.kept, journal.entries], [0, 0])
    const before = pictureOf(world)
    journal.asRecord(() => {
      for (const change of undone) apply(world, change)
    })
    journal.rewindTo(0)
    journal.forget()
    assert.strictEqual(pictureOf(world), before)
    assert.deepStrictEqual([journal.kept, journal.entries], [0, 0])
  })
})

describe("lowerBound", () => {
  it("finds the insertion index in a sorted list", () => {
    const list = [1, 3, 3, 5]
    assert.deepStrictEqual([0, 1, 2, 3, 4, 5, 6].map((n) => lowerBound(list, (item) => item - n)), [0, 0, 1, 1, 3, 3, 4])
    assert.strictEqual(lowerBound([], () => 0), 0)
  })
})
