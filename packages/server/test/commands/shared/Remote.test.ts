import { assert, describe, it } from "@effect/vitest"
import { WaybillCallFailed, WaybillProblem } from "@waybill/client"
import { Effect } from "effect"
import { failureOf, webAddress } from "../../../src/commands/shared/Remote.ts"

const call = { method: "GET", url: "https://freight.example/tenants" }

describe("calls of commands", () => {
  it("end with the code of a refusal, or of a server that answers later", () => {
    const codes = ([400, 401, 404, 409, 422, 429, 500, 503] as const).map((status) =>
      failureOf(new WaybillProblem(call, { status, headers: new Headers(), body: "" })).code)
    assert.deepStrictEqual(codes, [4, 4, 4, 4, 4, 3, 3, 3])
    assert.strictEqual(failureOf(new WaybillCallFailed(call, "network", "It is away.")).code, 3)
    assert.deepStrictEqual([failureOf(new TypeError("a URL")).code, failureOf(new Error("else")).code], [2, 1])
  })

  it("escape what would colour the terminal in the text of a server", () => {
    const body = JSON.stringify({ detail: "as \u001b[31mservers\u009b0m say", errors: [{ detail: "\u202efault" }] })
    const { message } = failureOf(new WaybillProblem(call, { status: 400, headers: new Headers(), body }))
    assert.include(message, "as \\u001b[31mservers\\u009b0m say \\u202efault")
  })

  it.effect("go to web addresses without a user name or a password", Effect.fnUntraced(function*() {
    for (const url of ["https://freight.example", "http://127.0.0.1:8080"]) assert.strictEqual(yield* webAddress(url, "It"), url)
    for (const url of ["https://ops@freight.example", "https://:hunter2@freight.example", "https://ops:hunter2@freight.example", "file:///etc/passwd", "freight.example"]) {
      const refused = yield* Effect.flip(webAddress(url, "It"))
      assert.strictEqual(refused.code, 2)
      assert.notInclude(refused.message, "hunter2")
    }
  }))
})
