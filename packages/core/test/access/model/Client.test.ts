import { assert, describe, it } from "@effect/vitest"
import { clientNamed, keyClient, keyNameOf, maxClientLength, qualifiedClient, tokenClient } from "../../../src/access/model/Client.ts"

describe("the names of clients", () => {
  it("of keys and of tokens never collide", () => {
    assert.strictEqual(keyClient("warehouse"), "key:warehouse")
    assert.strictEqual(tokenClient("https://idp.example", "warehouse"), "jwt:https://idp.example:warehouse")
    assert.strictEqual(tokenClient("a", "b:c%d"), "jwt:a:b%3Ac%25d")
    assert.notStrictEqual(tokenClient("a:b", "c"), tokenClient("a", "b:c"))
    assert.deepStrictEqual(["key:warehouse", "jwt:a:b"].map(keyNameOf), ["warehouse", undefined])
  })

  it("of tokens have at most 500 characters, and a subject that can be stored", () => {
    const subject = (length: number) => "s".repeat(length)
    const prefix = "jwt:https://idp.example/realm-of-a-customer-with-a-long-name:"
    const issuer = prefix.slice(4, -1)
    const longest = tokenClient(issuer.padEnd(400, "x"), subject(95))
    assert.strictEqual(longest?.length, maxClientLength)
    assert.isUndefined(tokenClient(issuer.padEnd(401, "x"), subject(95)))
    for (const refused of ["", " a", "a ", "a\nb", "\ud800"]) assert.isUndefined(tokenClient("a", refused), JSON.stringify(refused))
    assert.isUndefined(tokenClient("a b", "c"))
  })

  it("are qualified where they are bare, and stay where they are not", () => {
    assert.deepStrictEqual(["warehouse", "key:warehouse", "jwt:a:b", "jwt:a"].map(qualifiedClient), ["key:warehouse", "key:warehouse", "jwt:a:b", "key:jwt:a"])
    assert.deepStrictEqual(["warehouse", "key:warehouse", "jwt:a:b"].map(clientNamed), ["key:warehouse", "key:warehouse", "jwt:a:b"])
    for (const reserved of ["jwt:a", "key:key:warehouse", "key:jwt:a:b", "key:", "key: a", ""]) assert.isUndefined(clientNamed(reserved), reserved)
  })
})
