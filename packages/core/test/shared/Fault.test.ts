import { assert, describe, it } from "@effect/vitest"
import { decodeInput, fault, pointer } from "@waybill/core"
import { Effect, Schema } from "effect"

const decode = decodeInput(Schema.Struct({
  name: Schema.String,
  tags: Schema.optionalKey(Schema.Array(Schema.Int).check(Schema.isMaxLength(1000))),
  kind: Schema.optionalKey(Schema.Literals(["A", "B"]))
}), { closed: true })

describe("faults", () => {
  it("have a JSON pointer (RFC 6901)", () => {
    assert.strictEqual(pointer([]), "")
    assert.strictEqual(pointer(["events", 3, "a/b", "c~d", ""]), "/events/3/a~1b/c~0d/")
  })

  it("have at most 1,000 characters of detail", () => assert.isAtMost(fault([], "x".repeat(100_000)).detail.length, 1001))

  it.effect("list every problem at once, each with pointer, detail and code", Effect.fnUntraced(function*() {
    const { faults } = yield* Effect.flip(decode({ tags: [1, "two", 3.5], kind: "C", extra: 1 }, ["body"]))
    assert.deepStrictEqual(
      faults.map((each) => [each.pointer, each.code]).toSorted(),
      [
        ["/body/extra", "unknown_field"],
        ["/body/kind", "invalid"],
        ["/body/name", "required"],
        ["/body/tags/1", "invalid"],
        ["/body/tags/2", "invalid"]
      ]
    )
    for (const { detail } of faults) assert.match(detail, /^[A-Z"].*\.$/su)
  }))

  it.effect("have the code out_of_bounds for a length, a count or a number beyond its bounds, and invalid for another form", Effect.fnUntraced(function*() {
    const size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }, { message: "size is an integer from 1 to 9." }))
    const name = Schema.String.check(Schema.isMaxLength(3), Schema.isPattern(/^[a-z]*$/, { message: "A name has small letters." }))
    const decodeBounded = decodeInput(Schema.Struct({
      size,
      weight: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
      name,
      names: Schema.Array(name).check(Schema.isMinLength(1), Schema.isMaxLength(3))
    }))
    const codesOf = (input: unknown) => Effect.map(Effect.flip(decodeBounded(input)), ({ faults }) => faults.map(({ code, pointer }) => `${pointer} ${code}`))
    assert.deepStrictEqual(yield* codesOf({ size: 10, weight: -1, name: "long", names: [] }), ["/size out_of_bounds", "/weight out_of_bounds", "/name out_of_bounds", "/names out_of_bounds"])
    assert.deepStrictEqual(yield* codesOf({ size: 1.5, weight: "1", name: "A", names: "a" }), ["/size invalid", "/weight invalid", "/name invalid", "/names invalid"])
  }))

  it.effect("point to a list that must not be empty, not to its first item", Effect.fnUntraced(function*() {
    const { faults } = yield* Effect.flip(decodeInput(Schema.Struct({ roles: Schema.NonEmptyArray(Schema.String).check(Schema.isMaxLength(3)) }))({ roles: [] }, ["body"]))
    assert.deepStrictEqual(faults, [{ pointer: "/body/roles", detail: "This list must not be empty.", code: "out_of_bounds" }])
  }))

  it.effect("name the field that a misspelt one is nearest to", Effect.fnUntraced(function*() {
    const detailsOf = (input: unknown) => Effect.map(Effect.flip(decode(input)), ({ faults }) => faults.map((each) => [each.pointer, each.detail]))
    assert.deepStrictEqual(yield* detailsOf({ name: "x", tag: [1] }), [["/tag", "This field is not known here. Did you mean tags?"]])
    assert.deepStrictEqual(yield* detailsOf({ name: "x", colour: "red" }), [["/colour", "This field is not known here. Remove it."]])
  }))

  it.effect("describe the expected JSON, and never name a type", Effect.fnUntraced(function*() {
    const Filters = Schema.Struct({ names: Schema.Array(Schema.String).check(Schema.isMaxLength(3)) }).annotate({ identifier: "Filters" })
    const Checked = Schema.Array(Filters).check(Schema.isMaxLength(3)).annotate({ identifier: "CheckedFilters" })
    const decodeSettings = decodeInput(Schema.Struct({ filters: Filters, maybe: Schema.NullOr(Filters), checked: Checked }).annotate({ identifier: "Settings" }))
    const detailsOf = (input: unknown) => Effect.map(Effect.flip(decodeSettings(input)), ({ faults }) => faults.map((each) => each.detail))
    assert.deepStrictEqual(yield* detailsOf(5), ["Expected object."])
    assert.deepStrictEqual(yield* detailsOf({ filters: 5, maybe: 5, checked: 5 }), ["Expected object.", "Expected object | null.", "Expected array."])
    assert.deepStrictEqual(yield* detailsOf({ filters: { names: [] }, maybe: null, checked: [5] }), ["Expected object."])
  }))

  it.effect("list at most 100 problems", Effect.fnUntraced(function*() {
    const { faults } = yield* Effect.flip(decode({ name: "x", tags: Array.from({ length: 5000 }, () => "no number") }))
    assert.isAtMost(faults.length, 100)
  }))
})
