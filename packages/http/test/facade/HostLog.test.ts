import { AccessStore, makeStorage, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { describe, expect, it, vi } from "vitest"
import { pickupRequest, StorageMemory } from "@waybill/testkit"
import type { LogEntry, PickupInput, WaybillOptions } from "../../src/index.ts"
import { type HostTransaction, customer, rejection, start, startWithTenant } from "./Host.ts"

class SessionStoreDown extends Error {
  override readonly name = "SessionStoreDown"
}

const started = async (options: Partial<WaybillOptions<HostTransaction>>) => {
  const log: Array<LogEntry> = []
  const waybill = await startWithTenant({ log: (entry) => void log.push(entry), ...options })
  const errors = () => log.filter(({ level }) => level === "error")
  return { errors, log, waybill }
}

const request = () => pickupRequest({ orgAccountNumber: "A1", day: "2099-11-20" }) as unknown as PickupInput
const list = (headers: Record<string, string> = {}) => new Request("http://x/visibility/v1/events", { headers })
const key = `wb.acme.${crypto.randomUUID()}.${"k".repeat(43)}`

describe("the log of an embedded host", () => {
  it("has the error that authenticate threw, with name, message, stack and causes", async () => {
    const thrown = new SessionStoreDown("The session store is down.", { cause: new Error("connect ECONNREFUSED") })
    const { errors, waybill } = await started({ authenticate: async () => { throw thrown } })
    expect((await waybill.handler(list())).status).toBe(503)
    const [entry] = errors()
    expect(entry!.error).toBe(thrown)
    expect(entry!.cause).toMatch(/^SessionStoreDown: The session store is down\.\n(?:.*\n)*.*HostLog\.test\.ts[^]*caused by Error: connect ECONNREFUSED\n/)
  })

  it("has an error a few times a minute, however often a caller causes it", async () => {
    const { errors, waybill } = await started({ authenticate: async () => { throw new SessionStoreDown("The session store is down.") } })
    for (let n = 0; n < 25; n++) expect((await waybill.handler(list())).status).toBe(503)
    expect(errors()).toHaveLength(10)
  })

  it("has no error for a transfer coding that a caller chose", async () => {
    const { errors, waybill } = await started({ authenticate: async () => customer })
    // no path of the description, which does not list 501
    const call = new Request("http://x/nowhere", { headers: { "transfer-encoding": "gzip, chunked" } })
    expect((await waybill.handler(call)).status).toBe(501)
    expect(errors()).toEqual([])
  })

  it("has a failing readiness check a few times a minute, however often anybody asks", async () => {
    const down = Layer.effect(AccessStore, Effect.map(AccessStore, (access) => AccessStore.of({
      ...access,
      findTenant: () => Effect.fail(new StorageError({ operation: "findTenant", cause: undefined }))
    })))
    const layer = Layer.provideMerge(down, StorageMemory.layer)
    const log: Array<LogEntry> = []
    const waybill = start({ log: (entry) => void log.push(entry), storage: makeStorage<HostTransaction>({ layer, joined: () => (effect) => effect }) })
    for (let n = 0; n < 25; n++) expect((await waybill.handler(new Request("http://x/readyz"))).status).toBe(503)
    expect(log.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual(Array.from({ length: 10 }, () => "Readiness check \"storage\" failed."))
  })

  it("has the error of the pickup desk, and so has the rejection of a method", async () => {
    const thrown = new TypeError("No dispatcher is logged in.")
    const { errors, waybill } = await started({ authenticate: async () => customer, pickupDesk: async () => { throw thrown } })
    const answer = await waybill.handler(new Request("http://x/pickup/v1/pickups/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request())
    }))
    expect(answer.status).toBe(503)
    expect(errors().map(({ cause, error }) => [error === thrown, cause?.split("\n")[0]])).toEqual([[true, "TypeError: No dispatcher is logged in."]])
    expect((await rejection(waybill.pickups.create(customer, request()))).cause).toBe(thrown)
  })

  it("has no credentials of the request, also when an error quotes them", async () => {
    const { log, waybill } = await started({ authenticate: async (each) => { throw new Error(`Unknown key ${each.headers.get("x-api-key")}`) } })
    await waybill.handler(list({ "x-api-key": key }))
    expect(JSON.stringify(log)).toContain("Unknown key wb.…")
    expect(JSON.stringify(log)).not.toContain(key)
  })

  it.each([
    ["throws", () => { throw new Error("The disk is full.") }],
    ["rejects", async () => { throw new Error("The disk is full.") }]
  ])("is on standard error when the log function %s, and the call succeeds", async (_, log) => {
    const lines: Array<string> = []
    const written = vi.spyOn(process.stderr, "write").mockImplementation((line) => lines.push(String(line)) > 0)
    try {
      const { waybill } = await started({ authenticate: async () => customer, log })
      expect((await waybill.handler(list())).status).toBe(200)
      const entries = lines.map((line) => JSON.parse(line) as { readonly message: string; readonly cause?: string })
      expect(entries.map(({ message }) => message)).toEqual(expect.arrayContaining(["GET /visibility/v1/events 200", expect.stringContaining("The log function of createWaybill failed.")]))
      expect(entries.find(({ cause }) => cause !== undefined)?.cause).toMatch(/^Error: The disk is full\.\n/)
    } finally {
      written.mockRestore()
    }
  })
})
