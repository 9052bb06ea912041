import { assert, describe, it } from "@effect/vitest"
import { Base64Url } from "effect/encoding"
import { formatApiKey, keyAddress } from "../../src/access/model/ApiKey.ts"

const id = "0190b0b0-0000-7000-8000-00000000000a"

const keyOf = (tenant: string) => `wb.${tenant}.${id}.${"A".repeat(43)}`

describe("keyAddress", () => {
  it("finds the tenant and the id in a key, with every character of a tenant id", () => {
    for (const tenantId of ["a", "Acme_1", "acme-freight", "z9_-", "x".repeat(63)]) {
      assert.deepStrictEqual(keyAddress(formatApiKey({ tenantId, id }, new Uint8Array(32).fill(251))), { tenantId, id })
    }
  })

  it("refuses a tenant that is no base64url, or no tenant id", () => {
    for (const tenant of ["a", "abcde", "ab+d", "ab=="]) assert.isUndefined(keyAddress(keyOf(tenant)), tenant)
    for (const tenantId of ["größe", "\ufeffacme", "a b", "-a", "x".repeat(64), ""]) assert.isUndefined(keyAddress(keyOf(Base64Url.encode(tenantId))), tenantId)
  })
})
