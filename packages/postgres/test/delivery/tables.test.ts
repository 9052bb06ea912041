import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { migrations } from "../../src/index.ts"

const page = readFileSync(new URL("../../../../docs/delivery.md", import.meta.url), "utf8")

describe("the tables of docs/delivery.md", () => {
  it("are those that deliveries, notices and e-mails have", () => {
    const section = page.slice(page.indexOf("## Take and settle\n"), page.indexOf("## Workers and concurrency\n"))
    const listed = Array.from(section.matchAll(/^\| (`.+`) \|/gm)).flatMap(([, names]) => Array.from(names!.matchAll(/`(\w+)`/g), ([, name]) => name!))
    const created = migrations.flatMap(({ up }) => Array.from(up("waybill").matchAll(/CREATE TABLE waybill\.(\w+)/g), ([, name]) => name!))
    assert.deepStrictEqual(listed.toSorted(), created.filter((name) => /^(deliver|endpoint_notices|mails|notice_contacts|webhook_notices)/.test(name)).toSorted())
  })
})
