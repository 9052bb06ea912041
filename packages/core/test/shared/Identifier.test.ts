import { assert, describe, it } from "@effect/vitest"
import { AccountNumber, EventId, HmacSecretId, ShipmentId, TenantId } from "@waybill/core"
import { Schema } from "effect"

const accepts = <S extends Schema.Codec<string>>(schema: S, text: string) => Schema.is(schema)(text)

describe("identifiers chosen by callers", () => {
  it.for(["1", "041-8367745", "PRO 12 / 7", "a.b:c?d=e&f#g%20", "'; DROP TABLE x; --", "{a,\"b\"}", "Müller", "船荷", "😀", "\u00a0x"])("accept %j", (text) => {
    // a no-break space is a blank: outer ones are refused
    assert.strictEqual(accepts(ShipmentId, text), text !== "\u00a0x")
  })

  it.for(["", " ", " a", "a ", "a\nb", "a\u0000b", "a\tb", "\u007f", "a\u0085b", "\ud800", "a\udc00", "\ufeff"])("refuse %j", (text) => {
    assert.isFalse(accepts(EventId, text))
  })

  it("have a maximum length", () => {
    for (const [schema, length] of [[EventId, 200], [ShipmentId, 200], [HmacSecretId, 520], [AccountNumber, 100]] as const) {
      assert.isTrue(accepts(schema, "x".repeat(length)))
      assert.isFalse(accepts(schema, "x".repeat(length + 1)))
    }
  })

  it("are validated in linear time", () => {
    assert.isFalse(accepts(EventId, `${"a ".repeat(99)}\n`))
    assert.isFalse(accepts(EventId, " ".repeat(200)))
  })
})

describe("tenant ids", () => {
  it.for(["a", "acme", "ACME_1", "9-lives", "a".repeat(63)])("accept %j", (text) => assert.isTrue(accepts(TenantId, text)))

  it.for(["", "-a", "_a", "a b", "a.b", "ä", "a/b", "a".repeat(64), "a\n"])("refuse %j", (text) => assert.isFalse(accepts(TenantId, text)))
})
