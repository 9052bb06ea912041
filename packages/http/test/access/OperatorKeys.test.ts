import { Redacted, Result } from "effect"
import { describe, expect, it } from "vitest"
import { parseOperatorKeys } from "../../src/index.ts"
import { operatorKey, problemCode, reportedEvent, runningService } from "../TestService.ts"

const reader = "key-of-the-read-only-one"
const nightly = "key-of-the-nightly-job-1"
const newNightly = "key-of-the-nightly-job-2"

const parsed = (text: string) =>
  Result.match(parseOperatorKeys(text), {
    onSuccess: (keys) => keys.map(({ key, ...rest }) => ({ ...rest, key: Redacted.value(key) })),
    onFailure: (problem) => problem
  })

describe("a list of operator keys", () => {
  it("accepts plain keys, named keys, and read-only ones", () => {
    expect(parsed(`${operatorKey}, nightly:${nightly},grafana:read:${reader}`)).toEqual([
      { name: "operator", key: operatorKey, readOnly: false },
      { name: "nightly", key: nightly, readOnly: false },
      { name: "grafana", key: reader, readOnly: true }
    ])
    expect(parsed(`nightly:${nightly},nightly:${newNightly}`)).toHaveLength(2)
  })

  it.each([
    ["a key of 19 characters", "k".repeat(19), /^is shorter than 20 characters/],
    ["a short key among others", `${operatorKey},ci:short`, /^\(key 2 of 2\) is shorter/],
    ["one key under two names", `a:${nightly},b:read:${nightly}`, /the same key twice/],
    ["a name with capitals", `CI:${nightly}`, /name with other characters/],
    ["an empty name", `:${nightly}`, /name with other characters/],
    ["an empty entry", `${operatorKey},`, /shorter than 20/],
    ["another word than read", `ci:write:${nightly}`, /another word than read/],
    ["a key with a colon", `ci:read:${nightly}:x`, /too many colons/],
    ["keys in several lines", `ops:${operatorKey}\nci:${nightly}`, /^has several lines\. Write all keys in one line/],
    ["a key with blanks", "ci:some words that are no key", /blanks/]
  ])("is refused for %s, without quoting a key", (_what, text, problem) => {
    expect(parsed(text)).toMatch(problem)
    expect(parsed(text)).not.toContain(nightly)
  })
})

const keys = Result.getOrThrow(parseOperatorKeys(`${operatorKey},nightly:${nightly},nightly:${newNightly},grafana:read:${reader}`))
const service = await runningService({ standard: { operatorKeys: keys } })
const acme = await service.tenant("acme")

describe("an operator key", () => {
  const clientOf = (id: string) => service.log.find(({ annotations }) => annotations["correlationId"] === id && annotations["client"] !== undefined)?.annotations["client"]

  it("names its operator in the log, and several work at once", async () => {
    for (const [key, name] of [[operatorKey, "operator"], [nightly, "nightly"], [newNightly, "nightly"], [reader, "grafana"]] as const) {
      const id = `as-${name}`
      expect((await service.send("GET", "/operator/v1/tenants", { key, headers: { "x-request-id": id } })).status).toBe(200)
      expect(clientOf(id)).toBe(name)
    }
  })

  it("that is read-only reads everything except delivery bodies, and writes nothing", async () => {
    await acme.subscribe(acme.carrier)
    await acme.publish(reportedEvent("S1"))
    await service.deliver()
    const listed = await service.send("GET", "/operator/v1/tenants/acme/deliveries", { key: reader })
    expect([listed.status, listed.json.data.length]).toEqual([200, 1])
    const path = `/operator/v1/tenants/acme/deliveries/${listed.json.data[0].deliveryId}`
    expect((await service.send("GET", path, { key: nightly })).json.body).toContain("S1")
    for (const method of ["GET", "HEAD"]) expect((await service.send(method, path, { key: reader })).status).toBe(403)
    const refused = [
      await service.send("GET", path, { key: reader }),
      await service.send("POST", `${path}/retry`, { key: reader }),
      await service.send("PUT", "/operator/v1/tenants/bolt", { key: reader, body: { name: "Bolt" } }),
      await service.send("POST", "/operator/v1/tenants/acme/api-keys", { key: reader, body: { name: "x", roles: ["carrier"] } }),
      await service.send("PUT", "/operator/v1/tenants/acme/secrets/main", { key: reader, body: {} })
    ]
    for (const answer of refused) expect([answer.status, problemCode(answer)]).toEqual([403, "operator_read_only"])
    expect(refused[0]!.json.detail).toContain("read-only")
    expect((await service.send("GET", "/operator/v1/tenants", { key: nightly })).json.data.map(({ tenantId }: { tenantId: string }) => tenantId)).toEqual(["acme"])
  })
})
