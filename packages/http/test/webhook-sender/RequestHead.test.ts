import { assert, describe, it } from "@effect/vitest"
import { isHeaderValue, requestHead, sharedHead } from "../../src/webhook-sender/RequestHead.ts"

const shared = sharedHead("receiver.example:8443", "/hook?a=b", "Acme/1")

describe("requestHead", () => {
  it("writes the request line, the sender's headers, the request's and the length", () => {
    assert.strictEqual(
      requestHead(shared, { "content-type": "application/json", "x-name": "Grüße" }, 12),
      "POST /hook?a=b HTTP/1.1\r\nhost: receiver.example:8443\r\nconnection: keep-alive\r\nuser-agent: Acme/1\r\naccept-encoding: identity\r\n" +
        "content-type: application/json\r\nx-name: Grüße\r\ncontent-length: 12\r\n\r\n"
    )
  })

  it("leaves out headers that HTTP or the sender sets", () => {
    assert.strictEqual(requestHead(shared, { Host: "x", "Content-Length": "1", "transfer-encoding": "chunked" }, 0), requestHead(shared, {}, 0))
  })

  it("refuses a name or value that would change the request", () => {
    for (const headers of [{ "": "x" }, { "a b": "x" }, { "a:": "x" }, { "ä": "x" }, { "a\r\n": "x" }, { a: "x\r\ny: z" }, { a: "x\n" }, { a: "\0" }, { a: "\x7f" }, { a: "\u0100" }]) {
      assert.isUndefined(requestHead(shared, headers as Record<string, string>, 0), JSON.stringify(headers))
    }
  })

  it("accepts every other character of latin1 in a value", () => {
    const allowed = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).filter((text) => isHeaderValue(text)).join("")
    assert.match(allowed, /^\t[ -~]{95}[\x80-\xff]{128}$/)
  })
})
