import { describe, expect, it } from "vitest"
import type { ConnectionOptions } from "../../src/connection/index.ts"
import { type ShipmentLookup, ShipmentStatusClient } from "../../src/shipment-status/index.ts"
import { publicShipment, verifiedShipment } from "../samples.ts"
import { type AnswerRequest, json, scriptedServer } from "../scripted-server.ts"

const clientOf = (answer: AnswerRequest, options: Partial<ConnectionOptions> & { readonly basePath?: string } = { apiKey: "k" }) => {
  const server = scriptedServer(answer)
  const client = new ShipmentStatusClient({ baseUrl: "https://waybill.test", fetch: server.fetch, retry: { firstPauseMillis: 1 }, ...options })
  return { ...server, client }
}
const refusal = (status: number, message: string, headers: HeadersInit = {}) => json({ message }, status, headers)

const lookups: ReadonlyArray<readonly [ShipmentLookup, string]> = [
  [{ proNumber: "041-8367745" }, "/in-transit/v1/shipment/pro/041-8367745"],
  [{ bolNumber: "B1", originPostalCode: "68102" }, "/in-transit/v1/shipment/bol/B1/68102"],
  [{ poNumber: "P1", destinationPostalCode: "A1A 1A1" }, "/in-transit/v1/shipment/po/P1/A1A%201A1"]
]

describe("ShipmentStatusClient", () => {
  describe("looks a shipment up", () => {
    it.each(lookups)("by %j, verified", async (by, path) => {
      const { client, received } = clientOf(() => json(verifiedShipment))
      expect(await client.verified(by)).toEqual({ view: "verified", shipment: verifiedShipment })
      expect(received).toEqual([expect.objectContaining({ method: "GET", path: `${path}/verified`, body: undefined })])
      expect(received[0]!.headers.get("x-api-key")).toBe("k")
    })

    it.each(lookups)("by %j, public, without key or token", async (by, path) => {
      const { client, received } = clientOf(() => json(publicShipment), {})
      expect(await client.public(by)).toEqual(publicShipment)
      expect(received).toEqual([expect.objectContaining({ method: "GET", path: `${path}/public` })])
      expect([...received[0]!.headers.keys()]).toEqual(["accept"])
    })

    it("publicly with a key where the client has one", async () => {
      const { client, received } = clientOf(() => json(publicShipment))
      await client.public({ proNumber: "1" })
      expect(received[0]!.headers.get("x-api-key")).toBe("k")
    })

    it("and derives the view from the status alone", async () => {
      const foreign = clientOf(() => json(publicShipment, 202))
      expect(await foreign.client.verified({ proNumber: "1" })).toEqual({ view: "public", shipment: publicShipment })
      const minimal = clientOf(() => json(publicShipment, 200))
      expect((await minimal.client.verified({ proNumber: "1" })).view).toBe("verified")
      const other = clientOf(() => json(publicShipment, 203))
      await expect(other.client.verified({ proNumber: "1" })).rejects.toMatchObject({ reason: "unreadable_answer", message: expect.stringContaining("203") })
    })

    it("with slashes, dots, blanks and other scripts in its numbers", async () => {
      const { client, received } = clientOf(() => json(verifiedShipment))
      await client.verified({ bolNumber: "A/B?c#d%2F", originPostalCode: "../x" })
      await client.verified({ poNumber: "ü;1+2", destinationPostalCode: "68102-1234" })
      expect(received.map(({ url }) => url)).toEqual([
        "https://waybill.test/in-transit/v1/shipment/bol/A%2FB%3Fc%23d%252F/..%2Fx/verified",
        "https://waybill.test/in-transit/v1/shipment/po/%C3%BC%3B1%2B2/68102-1234/verified"
      ])
    })

    it.each(["", ".", ".."])("but not by %j, which would address another resource", async (text) => {
      const { client, received } = clientOf(() => json(verifiedShipment))
      const calls: ReadonlyArray<ShipmentLookup> = [{ proNumber: text }, { bolNumber: "B1", originPostalCode: text }, { poNumber: text, destinationPostalCode: "1" }]
      for (const by of calls) {
        await expect(client.verified(by)).rejects.toThrow(TypeError)
        await expect(client.public(by)).rejects.toThrow(TypeError)
      }
      expect(received).toEqual([])
    })

    it("and refuses any other response", async () => {
      for (const body of [{}, null, [], [verifiedShipment], "x", { ProNumber: 1 }]) {
        const { client } = clientOf(() => json(body))
        await expect(client.verified({ proNumber: "1" })).rejects.toMatchObject({ reason: "unreadable_answer" })
        await expect(client.public({ proNumber: "1" })).rejects.toMatchObject({ reason: "unreadable_answer" })
      }
      const { client } = clientOf(() => new Response(null, { status: 204 }))
      await expect(client.verified({ proNumber: "1" })).rejects.toMatchObject({ reason: "unreadable_answer" })
    })

    it("and fails with the server's message when there is none", async () => {
      const { client, received } = clientOf(() => refusal(404, "No shipment has this PRO number."))
      await expect(client.verified({ proNumber: "1" })).rejects.toMatchObject({
        name: "WaybillProblem", status: 404, code: "", detail: "No shipment has this PRO number.", errors: [], details: undefined,
        message: "GET https://waybill.test/in-transit/v1/shipment/pro/1/verified answered 404: No shipment has this PRO number."
      })
      expect(received).toHaveLength(1)
    })

    it("again after 429, after the delay that the server asks for", async () => {
      const { client, received } = clientOf((_, count) => count === 0 ? refusal(429, "Too many lookups.", { "retry-after": "0" }) : json(publicShipment))
      expect(await client.public({ proNumber: "1" })).toEqual(publicShipment)
      expect(received).toHaveLength(2)
      const patient = clientOf(() => refusal(429, "Too many lookups.", { "retry-after": "60" }))
      await expect(patient.client.verified({ proNumber: "1" })).rejects.toMatchObject({ status: 429, retryAfterSeconds: 60 })
      expect(patient.received).toHaveLength(1)
    })
  })

  it("uses the configured base path", async () => {
    const { client, received } = clientOf(() => json(publicShipment), { basePath: "/tracking" })
    await client.public({ proNumber: "1" })
    expect(received[0]!.path).toBe("/tracking/shipment/pro/1/public")
  })

  describe("lists shipments picked up for an account", () => {
    it("between two dates, sent as given", async () => {
      const { client, received } = clientOf(() => json([verifiedShipment]))
      expect(await client.pickedUp("A/1", { startDate: "2026-11-01", endDate: "2026-11-20T17:00:00+02:00" })).toEqual([verifiedShipment])
      await client.pickedUp("1", { startDate: new Date(0), endDate: new Date("2026-11-20T00:00:00Z") })
      expect(received.map(({ path }) => path)).toEqual([
        "/in-transit/v1/shipment/po/A%2F1/2026-11-01/2026-11-20T17%3A00%3A00%2B02%3A00/verified",
        "/in-transit/v1/shipment/po/1/1970-01-01T00%3A00%3A00.000Z/2026-11-20T00%3A00%3A00.000Z/verified"
      ])
    })

    it("and returns an empty list when there are none", async () => {
      const { client } = clientOf(() => new Response(null, { status: 204 }))
      expect(await client.pickedUp("1", { startDate: "2026-11-01", endDate: "2026-11-02" })).toEqual([])
    })

    it("and refuses any other response", async () => {
      for (const answer of [() => json(verifiedShipment), () => json(null), () => new Response(null, { status: 200 })]) {
        const { client } = clientOf(answer)
        await expect(client.pickedUp("1", { startDate: "2026-11-01", endDate: "2026-11-02" })).rejects.toMatchObject({ reason: "unreadable_answer" })
      }
    })

    it.each([[401, "You have no access to account 2."], [404, "No account 2."]])("and fails with %i for an account of another client", async (status, message) => {
      const { client } = clientOf(() => refusal(status, message))
      await expect(client.pickedUp("2", { startDate: "2026-11-01", endDate: "2026-11-02" })).rejects.toMatchObject({ status, detail: message })
    })

    it("and refuses an invalid date", async () => {
      const { client, received } = clientOf(() => json([]))
      await expect(client.pickedUp("1", { startDate: new Date(NaN), endDate: "2026-11-02" })).rejects.toThrow(RangeError)
      expect(received).toEqual([])
    })
  })

  it("subscribes without retries", async () => {
    const subscribed = { message: "Subscribed.", transactionId: "0199-t" }
    const { client, received } = clientOf((_, count) => count === 0 ? json(subscribed) : refusal(503, "Try again."))
    const wanted = { referenceNumbers: ["041-8367745", "B1"], webhookUrl: "https://me.test/hook", hmacSecretId: "main" }
    expect(await client.subscribe(wanted)).toEqual(subscribed)
    expect(received[0]).toMatchObject({ method: "POST", path: "/in-transit/v1/notifications/subscribe", body: wanted })
    expect(received[0]!.headers.get("content-type")).toBe("application/json")
    await expect(client.subscribe(wanted)).rejects.toMatchObject({ status: 503 })
    expect(received).toHaveLength(2)
  })

  it.each([["0199/t", "0199%2Ft"], [42, "42"]])("unsubscribes from %j", async (transactionId, segment) => {
    const { client, received } = clientOf(() => json({ message: "Unsubscribed.", transactionId }))
    expect(await client.unsubscribe(transactionId)).toBeUndefined()
    expect(received).toEqual([expect.objectContaining({ method: "DELETE", path: `/in-transit/v1/notifications/unsubscribe/${segment}`, body: undefined })])
  })

  it("treats 404 as unsubscribed only after a lost response", async () => {
    const { client } = clientOf((_, count) => count === 0 ? Promise.reject(new TypeError("fetch failed")) : refusal(404, "No such subscription."))
    expect(await client.unsubscribe("t")).toBeUndefined()
    const first = clientOf(() => refusal(404, "No such subscription."))
    await expect(first.client.unsubscribe("t")).rejects.toMatchObject({ status: 404 })
  })

  it("aborts a call with the caller's signal", async () => {
    const { client, received } = clientOf(() => json(publicShipment))
    const signal = AbortSignal.abort(new Error("over"))
    const calls = [
      () => client.verified({ proNumber: "1" }, { signal }),
      () => client.public({ proNumber: "1" }, { signal }),
      () => client.pickedUp("1", { startDate: "2026-11-01", endDate: "2026-11-02" }, { signal }),
      () => client.subscribe({ referenceNumbers: ["1"], webhookUrl: "https://me.test" }, { signal }),
      () => client.unsubscribe("t", { signal })
    ]
    for (const call of calls) await expect(call()).rejects.toThrow("over")
    expect(received).toEqual([])
  })
})
