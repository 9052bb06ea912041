import { assert, describe, it } from "@effect/vitest"
import { signDelivery } from "@waybill/client"
import { Effect } from "effect"
import { runDemoReceiver } from "../../src/demo/DemoReceiver.ts"

const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`

describe("the demo's receiver", () => {
  it.live("says why it refuses a delivery: its time, or its signature", () =>
    Effect.gen(function*() {
      const printed: Array<string> = []
      const { url } = yield* runDemoReceiver({ port: undefined, secrets: () => secret, print: (line) => printed.push(line) })
      const post = Effect.fnUntraced(function*(secrets: string, now: Date) {
        const body = new TextEncoder().encode("{}")
        const { headers } = yield* Effect.promise(() => signDelivery({ secrets, deliveryId: "d-1", body, now }))
        return (yield* Effect.promise(() => fetch(url, { method: "POST", headers, body }))).status
      })
      const now = Date.now()
      assert.strictEqual(yield* post(secret, new Date(now - 3_600_000)), 401)
      assert.strictEqual(yield* post(secret, new Date(now + 3_600_000)), 401)
      assert.strictEqual(yield* post(`whsec_${Buffer.alloc(32, 2).toString("base64")}`, new Date(now)), 401)
      const said = [/was signed 360\d seconds ago; 300 are allowed/, /was signed 3\d\d\d seconds ahead of this clock/, /No signature matches\./]
      assert.lengthOf(printed, said.length)
      for (const [at, pattern] of said.entries()) assert.match(printed[at]!, pattern)
    }).pipe(Effect.scoped))
})
