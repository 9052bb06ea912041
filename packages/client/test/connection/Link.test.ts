import { forRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { nextLink } from "../../src/connection/Link.ts"

describe("nextLink", () => {
  it.each([
    ["</v1/events?page=2>; rel=\"next\"", "/v1/events?page=2"],
    ["<a>;rel=next", "a"],
    ["<a>; REL=\"NEXT\"", "a"],
    ["<a>; rel=\"prev\", <b>; rel=\"next\", <c>; rel=\"next\"", "b"],
    ["<a>; rel=\"first last\",<b>; rel=\"up next\"", "b"],
    ["<a,b;rel=next>; rel=prev, <c,d>; rel=next", "c,d"],
    ["<a>; title=\"x, <evil>; rel=\\\"next\\\"\"; rel=prev, <b>; rel=next", "b"],
    ["<a>; rel=prev; rel=next, <b>; rel=next", "b"],
    ["<a>; title*=UTF-8''n%c3%a4chste; rel=next", "a"],
    ["<>; rel=next", ""],
    ["<a>; rel=\"nextish\"", undefined],
    ["<a>; rel", undefined],
    ["<a>", undefined],
    ["a; rel=next", undefined],
    ["<a; rel=next", undefined],
    ["", undefined],
    ["<a>; title=\"never closed, <b>; rel=next", undefined]
  ])("finds in %s: %j", (header, target) => expect(nextLink(header)).toBe(target))

  it("finds a part of any text, or nothing", () => forRandom(2000, (random) => {
    const text = Array.from({ length: random.below(60) }, () => random.pick([..."<>;,=\"\\ ", "rel", "next", "a"])).join("")
    expect(text).toContain(nextLink(text) ?? "")
  }))

  it("terminates quickly on a long text", () => {
    const started = performance.now()
    for (const part of ["<", "<a>;", "\"", ",", "<a>;rel=\""]) nextLink(part.repeat(200_000))
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})
