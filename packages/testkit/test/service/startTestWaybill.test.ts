import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it, vi } from "vitest"
import { WaybillError } from "@waybill/http"
import { billChange, postedShipment, type ReceivedDelivery, reportedEvent, type StartOptions, startTestWaybill } from "../../src/index.ts"
import { startedWaybill } from "../startedWaybill.ts"

const url = "https://shop.example/hook"

const following = async (options?: StartOptions) => {
  const waybill = await startedWaybill(options)
  await waybill.subscriptions.create(waybill.shipper, { endpointUrl: url, hmacSecretId: waybill.hmacSecretId })
  return { waybill, receiver: waybill.receiver(url), publish: () => waybill.events.publish(waybill.carrier, [reportedEvent("S-1", { accounts: ["A-1"] })]) }
}

const run = promisify(execFile)
const node = (...args: ReadonlyArray<string>) => run(process.execPath, ["--conditions=@waybill/source", "--disable-warning=ExperimentalWarning", ...args], { timeout: 60_000 })
const fileNamed = (name: string) => fileURLToPath(new URL(name, import.meta.url))

describe("startTestWaybill", () => {
  it("delivers what is published before the call resolves, signed", async () => {
    const { publish, receiver, waybill } = await following()
    const [result] = await publish()
    expect(result).toMatchObject({ result: "accepted" })
    receiver.assertReceived(1)
    receiver.assertSigned()
    const [delivery] = receiver.received
    expect(delivery).toMatchObject({ signature: "good", at: new Date("2026-11-20T14:00:00Z"), events: [{ type: "IN_TRANSIT" }], notice: undefined, charges: [] })
    expect((await waybill.deliveries.list("acme")).data).toMatchObject([{ deliveryId: delivery!.deliveryId, state: "delivered" }])
  })

  it("retries as its clock advances, at the same times in every run", async () => {
    const momentsOf = async () => {
      const { publish, receiver, waybill } = await following()
      receiver.answers(503, "refuse", "hang", 200)
      await publish()
      receiver.assertReceived(1)
      await waybill.advance("1 day")
      receiver.assertReceived(4)
      expect(waybill.now()).toEqual(new Date("2026-11-21T14:00:00Z"))
      return receiver.received.map(({ at }) => at.getTime())
    }
    const moments = await momentsOf()
    expect(moments).toEqual(moments.toSorted((one, other) => one - other))
    expect(new Set(moments).size).toBe(4)
    expect(await momentsOf()).toEqual(moments)
  })

  it("answers with the handler under test, and waits for it", async () => {
    const { publish, receiver, waybill } = await following()
    const bodies: Array<string> = []
    receiver.handledBy(async (request) => {
      bodies.push(await request.text())
      // work outside of the virtual clock
      await crypto.subtle.digest("SHA-256", new Uint8Array(1_000_000))
      if (bodies.length === 1) throw new Error("not yet")
      return new Response(null, { status: 204 })
    })
    await publish()
    await waybill.advance("1 minute")
    expect(bodies.length).toBe(2)
    expect(bodies[0]).toBe(bodies[1])
    expect(receiver.handlerErrors).toEqual([new Error("not yet")])
    expect(receiver.received.map(({ answer }) => answer)).toEqual([500, 204])
    expect((await waybill.deliveries.list("acme")).data[0]).toMatchObject({ state: "delivered" })
  })

  it("shows what a receiver answered to each request", async () => {
    const { publish, receiver, waybill } = await following()
    receiver.answers(302, "refuse", "hang", 202)
    await publish()
    await waybill.advance("10 seconds")
    expect(receiver.received.map(({ answer }) => answer)).toEqual([302, "refuse"])
    await waybill.advance("2 minutes")
    expect(receiver.received.map(({ answer }) => answer)).toEqual([302, "refuse", "hang", 202])
  })

  it("refuses a handler that is no function, such as the receiver whose method is meant", async () => {
    const { receiver } = await following()
    for (const wrong of [undefined, { handle: () => new Response() }]) {
      expect(() => receiver.handledBy(wrong as never)).toThrow("handledBy takes a function of a Request")
    }
  })

  it("reports a handler that returns no answer", async () => {
    const { publish, receiver } = await following()
    receiver.handledBy((() => undefined) as never)
    await publish()
    expect(receiver.handlerErrors).toEqual([new TypeError("The handler answered no Response. Return one, such as new Response(null, { status: 204 }).")])
  })

  it("lets a handler under test call the service", async () => {
    const { publish, receiver, waybill } = await following()
    const told: Array<number> = []
    receiver.handledBy(async () => {
      told.push((await waybill.events.list(waybill.shipper, { shipmentId: "S-1" })).data.length)
      return new Response()
    })
    await publish()
    await publish()
    expect(told).toEqual([1, 2])
  })

  it("closes the windows of daily charges at midnight of its time zone", async () => {
    const waybill = await startedWaybill({ timeZone: "America/Chicago" })
    const receiver = waybill.receiver("https://shop.example/charges")
    await waybill.chargeSubscriptions.create(waybill.shipper, { webhookUrl: receiver.url, accounts: ["A-1"], dataOptions: {}, frequency: "daily" })
    await waybill.freightCharges.publish(waybill.carrier, [billChange("created", "0418367745WAYB20261120", { account: "A-1" }) as never])
    await waybill.advanceTo("2026-11-21T05:59:59Z")
    receiver.assertReceived(0)
    await waybill.advance("1 second")
    receiver.assertReceived(1)
    expect(receiver.received.map(({ at }) => at)).toEqual([new Date("2026-11-21T06:00:00Z")])
  })

  it("verifies with a secret that a test registers", async () => {
    const waybill = await startedWaybill()
    const { secret } = await waybill.secrets.put(waybill.tenantId, "other", { client: "shipper" })
    expect(secret).toMatch(/^whsec_/)
    await waybill.subscriptions.create(waybill.shipper, { endpointUrl: url, hmacSecretId: "other" })
    await waybill.events.publish(waybill.carrier, [reportedEvent("S-1", { accounts: ["A-1"] })])
    waybill.receiver(url).assertSigned()
    waybill.receiver(url).assertReceived(1)
  })

  it("verifies with a secret that a customer rotates in its portal", async () => {
    const waybill = await startedWaybill()
    await waybill.secrets.put(waybill.tenantId, "other", { client: "shipper" })
    await waybill.subscriptions.create(waybill.shipper, { endpointUrl: url, hmacSecretId: "other" })
    await waybill.portal.rotateSecret(waybill.shipper, "other", { overlapSeconds: 0 })
    await waybill.events.publish(waybill.carrier, [reportedEvent("S-1", { accounts: ["A-1"] })])
    waybill.receiver(url).assertSigned()
  })

  it("verifies with a secret that is registered over HTTP", async () => {
    const operatorKey = "operator-key-of-this-test"
    const waybill = await startedWaybill({ operatorKeys: [operatorKey] })
    const answer = await waybill.operatorHandler(new Request("https://x.example/operator/v1/tenants/acme/secrets/other", {
      method: "PUT",
      headers: { "x-api-key": operatorKey, "content-type": "application/json" },
      body: JSON.stringify({ client: "shipper" })
    }))
    expect(answer.status).toBe(200)
    await waybill.subscriptions.create(waybill.shipper, { endpointUrl: url, hmacSecretId: "other" })
    await waybill.events.publish(waybill.carrier, [reportedEvent("S-1", { accounts: ["A-1"] })])
    waybill.receiver(url).assertSigned()
  })

  it("sends what a request over HTTP published before the response resolves", async () => {
    const { receiver, waybill } = await following()
    const { key } = await waybill.apiKeys.create("acme", { name: "carrier", roles: ["carrier"] })
    const answer = await waybill.handler(new Request("https://x.example/intake/v1/transit-events", {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ events: [reportedEvent("S-1", { accounts: ["A-1"] })] })
    }))
    expect(answer.status).toBe(200)
    receiver.assertReceived(1)
  })

  it("rejects with WaybillError", async () => {
    const waybill = await startedWaybill()
    const refused = waybill.events.publish(waybill.shipper, [reportedEvent("S-1")])
    await expect(refused).rejects.toBeInstanceOf(WaybillError)
    await expect(refused).rejects.toMatchObject({ code: "not_permitted", status: 403 })
    await expect(waybill.subscriptions.get(waybill.shipper, "none")).rejects.toMatchObject({ code: "subscription_not_found" })
    await expect(waybill.events.publish(waybill.carrier, [{} as never])).rejects.toThrow("/events/0/type")
  })

  it("refuses a tenant that nobody created", async () => {
    const waybill = await startedWaybill()
    await expect(waybill.events.publish({ ...waybill.carrier, tenantId: "acmee" }, [reportedEvent("S-1")])).rejects.toMatchObject({ code: "tenant_not_found" })
    await expect(waybill.secrets.put("acmee", "main", { anyClient: true })).rejects.toMatchObject({ code: "tenant_not_found" })
  })

  it("removes a deleted tenant as its clock advances, so that its id can be used again", async () => {
    const waybill = await startedWaybill()
    await waybill.tenants.delete("acme", { confirm: "acme" })
    await expect(waybill.tenants.put("acme", { name: "Acme" })).rejects.toThrow()
    await waybill.advance("1 hour")
    await waybill.tenants.put("acme", { name: "Acme" })
  })

  it("starts, wakes, runs once and maintains for code that does so, without a second delivery", async () => {
    const { publish, receiver, waybill } = await following()
    await waybill.start()
    await publish()
    await waybill.wake("acme")
    expect(await waybill.runOnce()).toBe(0)
    await waybill.maintain()
    receiver.assertReceived(1)
  })

  it("writes its log to a function", async () => {
    const messages: Array<string> = []
    const waybill = await startedWaybill({ log: ({ message }) => void messages.push(message) })
    await waybill.handler(new Request("https://x.example/healthz"))
    expect(messages).not.toEqual([])
  })

  it("refuses the addresses that the server refuses", async () => {
    const waybill = await startedWaybill()
    for (const endpointUrl of ["https://user:password@shop.example/", "https://shop.example/#here", "https://10.0.0.1/", "https://shop/"]) {
      const created = waybill.subscriptions.create(waybill.shipper, { endpointUrl, hmacSecretId: waybill.hmacSecretId })
      await expect(created).rejects.toMatchObject({ code: "invalid_input", faults: [{ pointer: "/endpointUrl" }] })
      expect(() => waybill.receiver(endpointUrl)).toThrow("is no address of a receiver.")
    }
    expect(() => waybill.receiver(undefined as never)).toThrow("undefined is no address of a receiver. Give a text such as")
  })

  it("reports wrong use with what to do", async () => {
    const waybill = await startedWaybill()
    expect(() => waybill.receiver("http://shop.example/")).toThrow("starts with https://")
    await expect(waybill.advance("2 fortnights" as never)).rejects.toThrow('such as "2 minutes"')
    await expect(waybill.advance(-1)).rejects.toThrow("milliseconds, at least 0")
    await expect(waybill.advanceTo("soon")).rejects.toThrow("RFC 3339")
    await expect(waybill.advanceTo("2026-11-20T13:59:59Z")).rejects.toThrow(new RangeError("The clock is at 2026-11-20T14:00:00.000Z and cannot go back to 2026-11-20T13:59:59.000Z."))
    await waybill.advanceTo(waybill.now())
    expect(() => waybill.receiver(url).answers(100)).toThrow("a status from 200 to 599")
    expect(() => waybill.receiver(url).answers("explode" as never)).toThrow('"explode" is no answer. Give a status from 200 to 599')
    expect(() => waybill.receiver(url).answers(null as never)).toThrow("null is no answer.")
    expect(() => waybill.receiver(url).answers(...[] as unknown as [200])).toThrow("at least one answer")
    expect(() => waybill.receiver(url).faults.drop({ times: 0 })).toThrow("a whole number from 1")
    await expect(waybill.journey("plain LTL").subscribe({ event: url } as never)).rejects.toThrow("subscribe has no option event. Did you mean events?")
    await expect(startTestWaybill({ nwo: "2026-11-20T14:00:00Z" } as never)).rejects.toThrow("startTestWaybill has no option nwo. Did you mean now?")
    await expect(startTestWaybill({ now: "soon" })).rejects.toThrow("RFC 3339")
    await waybill.stop()
    await waybill.stop()
    await expect(waybill.tenants.put("x", { name: "X" })).rejects.toMatchObject({ code: "stopping" })
  })

  it("stops while a receiver hangs", async () => {
    const { publish, receiver, waybill } = await following()
    receiver.answers("hang")
    await publish()
    await waybill.stop()
    receiver.assertReceived(1)
  })

  it("starts empty each time", async () => {
    const { publish } = await following()
    await publish()
    const other = await startedWaybill()
    expect((await other.events.list(other.carrier)).data).toEqual([])
    expect(other.receiver(url).received).toEqual([])
  })

  it("runs under node:test without changes", async () => {
    const { stdout } = await node("--test", "--test-reporter=tap", fileNamed("./UnderNodeTest.ts"))
    expect(stdout).toMatch(/^# pass 2$/m)
    expect(stdout).toMatch(/^# fail 0$/m)
  })

  it("works while a test fakes every timer", async () => {
    vi.useFakeTimers()
    try {
      const { publish, receiver, waybill } = await following()
      receiver.answers(503, 200)
      await publish()
      await waybill.advance("1 minute")
      receiver.assertReceived(2)
      await waybill.stop()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it("lets the process exit even if it is never stopped", async () => {
    const { stdout } = await node(fileNamed("./NeverStopped.ts"))
    expect(stdout).toBe("1 delivery\n")
  })
})

describe("assertions of a receiver", () => {
  it("fail when nothing arrived", async () => {
    const { receiver, waybill } = await following()
    for (const assertion of ["assertSigned", "assertInOrder", "assertNoDuplicates"] as const) {
      expect(() => receiver[assertion](), assertion).toThrow(`${url} received nothing.`)
    }
    await waybill.statusSubscriptions.subscribe(waybill.shipper, { webhookUrl: url, referenceNumbers: ["PRO-1"] })
    await waybill.shipments.register(waybill.carrier, [postedShipment("S-1", { ProNumber: "PRO-1", accounts: ["A-1"] })])
    await waybill.shipments.report(waybill.carrier, [{ shipmentId: "S-1", shipmentMilestoneStatus: "Picked-up" }])
    receiver.assertNoDuplicates()
  })

  it("say what arrived instead", async () => {
    const { publish, receiver } = await following()
    receiver.answers(204, 401, "refuse", 200)
    receiver.faults.wrongSignature().duplicate()
    await publish()
    await publish()
    const ids = receiver.received.map(({ deliveryId }: ReceivedDelivery) => deliveryId)
    const [first, second, third] = receiver.received.map(({ at, deliveryId }: ReceivedDelivery) => `  ${at.toISOString()} ${deliveryId}`)
    const list = ["receiver.received has:", `${first} (signature wrong) S-1 #1 IN_TRANSIT`, `${second} S-1 #2 IN_TRANSIT, answered 401`, `${third} S-1 #2 IN_TRANSIT, connection refused`].join("\n")
    expect(() => receiver.assertReceived(1)).toThrow(`${url} received 3 requests instead of 1. Advance the clock if retries or windows are still to come.\n${list}`)
    expect(() => receiver.assertSigned()).toThrow(`The signature of ${ids[0]} at ${url} is wrong`)
    expect(() => receiver.assertNoDuplicates()).toThrow(`${ids[1]} arrived at ${url} more than once`)
  })

  it("find an order in what was accepted, after retries too, and a repeat of it", async () => {
    const { publish, receiver, waybill } = await following()
    receiver.answers(503, "refuse", 200)
    await publish()
    await waybill.advance("1 minute")
    await publish()
    receiver.assertReceived(4)
    receiver.assertInOrder()
    receiver.faults.duplicate()
    await publish()
    expect(() => receiver.assertInOrder()).toThrow(`Event 3 of S-1 arrived at ${url} again, in ${receiver.received.at(-1)!.deliveryId}.`)
  })

  it("find no order where nothing was accepted", async () => {
    const { publish, receiver } = await following()
    receiver.answers(503)
    await publish()
    expect(() => receiver.assertInOrder()).toThrow(`${url} accepted no transit events.`)
  })
})
