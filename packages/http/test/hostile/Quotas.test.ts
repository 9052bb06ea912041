/** Clients above their quotas: subscription floods, request floods, endless uploads. */
import type { Principal } from "@waybill/core"
import { type EventQuery, TransitEvents } from "@waybill/core/transit-events"
import { documentsSample, pickupRequest } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { readsPerClient } from "../../src/server/ClientQuotas.ts"
import { type Answer, operatorKey, problemCode, reportedEvent, runningService, type TestService } from "../TestService.ts"

let service: TestService

const started = async (limits: object, over?: Layer.Layer<TransitEvents, never, TransitEvents>) => {
  service = await runningService({ logLevel: "Error", ...(over === undefined ? {} : { over }) })
  const acme = await service.tenant("acme")
  const set = await service.send("PUT", "/operator/v1/tenants/acme/limits", { key: operatorKey, body: limits })
  expect(set.status).toBe(200)
  return acme
}

describe("a subscription flood (SPEC-GAP-X6)", () => {
  it("ends at the client's quota with 409 in the area's own format, and does not affect other clients", async () => {
    const acme = await started({ eventSubscriptionsPerClient: 2, chargeSubscriptionsPerClient: 1, statusSubscriptionsPerClient: 1 })
    const [one, two] = [await acme.customer("one", ["A1", "A2"]), await acme.customer("two", ["A1"])]
    expect((await Promise.all(Array.from({ length: 8 }, () => acme.subscribe(one)))).map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409, 409, 409])
    const event = await acme.subscribe(one)
    expect([event.status, problemCode(event), event.json.detail]).toEqual([409, "quota_exceeded", expect.stringContaining("eventSubscriptionsPerClient of 2")])
    expect((await acme.subscribeToCharges(one, ["A1"])).status).toBe(201)
    const charge = await acme.subscribeToCharges(one, ["A2"])
    expect([charge.status, charge.json]).toEqual([409, {
      code: "SUBSCRIPTION_CONFLICT",
      message: expect.stringContaining("chargeSubscriptionsPerClient of 1"),
      details: { resource: "quota", value: "chargeSubscriptionsPerClient" }
    }])
    expect((await acme.follow(one, "1")).status).toBe(200)
    const status = await acme.follow(one, "2")
    expect([status.status, status.json]).toEqual([409, { message: expect.stringContaining("statusSubscriptionsPerClient of 1") }])
    expect([(await acme.subscribe(two)).status, (await acme.subscribeToCharges(two, ["A1"])).status, (await acme.follow(two, "1")).status]).toEqual([201, 201, 200])
  })

  it("ends at the tenant's quota too, across areas and clients", async () => {
    const acme = await started({ subscriptions: 3 })
    const clients = await Promise.all(["one", "two", "three", "four"].map((name) => acme.customer(name, ["A1"])))
    expect((await Promise.all(clients.map((key) => acme.subscribe(key)))).map(({ status }) => status).sort()).toEqual([201, 201, 201, 409])
    const refused = await acme.follow(clients[0]!, "1")
    expect([refused.status, refused.json.message]).toEqual([409, expect.stringContaining("subscriptions of 3")])
  })

  it("to one shipment ends at the client's quota of a reference, also among concurrent ones, because each report is queued for all of them", async () => {
    const acme = await started({ statusSubscriptionsPerReference: 2 })
    const [one, two] = [await acme.customer("one", ["A1"]), await acme.customer("two", ["A1"])]
    const answers = await Promise.all(Array.from({ length: 5 }, (_, at) => acme.follow(one, "PRO-1", `PO-${at}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409, 409])
    const refused = await acme.follow(one, "X", "pro1")
    expect([refused.status, refused.json]).toEqual([409, { message: expect.stringContaining("statusSubscriptionsPerReference of 2") }])
    expect([(await acme.follow(one, "X")).status, (await acme.follow(two, "PRO-1")).status]).toEqual([200, 200])
    const { transactionId } = answers.find(({ status }) => status === 200)!.json
    expect((await service.send("DELETE", `/in-transit/v1/notifications/unsubscribe/${transactionId}`, { key: one })).status).toBe(200)
    expect((await acme.follow(one, "PRO-1")).status).toBe(200)
  })

  it("can continue when subscriptions are removed, and leaves nothing of refused ones", async () => {
    const acme = await started({ eventSubscriptionsPerClient: 1 })
    const one = await acme.customer("one", ["A1"])
    for (let round = 0; round < 3; round++) {
      const { json } = await acme.subscribe(one)
      expect((await acme.subscribe(one)).status).toBe(409)
      expect((await service.send("GET", "/visibility/v1/subscriptions", { key: one })).json.totalCount).toBe(1)
      for (const status of [204, 204]) expect((await service.send("DELETE", `/visibility/v1/subscriptions/${json.id}`, { key: one })).status).toBe(status)
    }
    expect((await acme.subscribe(one)).status).toBe(201)
  })
})

describe("a flood of requests", () => {
  it("gets 429 in each area's own format, and does not affect other clients", async () => {
    const acme = await started({ requestsPerSecondPerCustomer: 0 })
    const one = await acme.customer("one", ["A1"])
    const refused = async (path: string): Promise<Answer> => {
      const answer = await service.send("GET", path, { key: one })
      expect([path, answer.status, answer.headers.get("retry-after")]).toEqual([path, 429, "60"])
      return answer
    }
    const named = expect.stringContaining("requestsPerSecondPerCustomer of 0")
    expect((await refused("/in-transit/v1/shipment/pro/1/verified?postalCode=44101")).json).toEqual({ message: named })
    const invoices = await refused("/invoicing/invoices")
    expect([invoices.json, invoices.headers.get("x-waybill-detail")]).toEqual([["700"], named])
    expect((await refused("/pickup/v1/pickups/?id=1")).json).toEqual({ message: named })
    expect((await refused("/visibility/v1/events")).json).toMatchObject({ status: 429, code: "rate_exceeded", detail: named })
    expect((await refused("/pfc/v1/subscriptions/1")).json).toMatchObject({ code: "TOO_MANY_REQUESTS", message: named })
    expect((await service.send("GET", "/visibility/v1/events", { key: acme.carrier })).status).toBe(200)
    expect((await service.send("GET", "/operator/v1/tenants/acme/limits", { key: operatorKey })).status).toBe(200)
  })
})

/** An upload whose body stays open. */
const heldUpload = (key: string) => {
  let controller: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({ start: (own) => void (controller = own) })
  const text = JSON.stringify(documentsSample({ documents: [{ documentType: "POD", files: [Buffer.from("%PDF-1.7 held").toString("base64")] }] }))
  const [begun, rest] = [text.slice(0, -1), text.slice(-1)].map((part) => new TextEncoder().encode(part))
  const leaving = new AbortController()
  const answer = service.fetch(
    new Request("http://waybill.test/invoicing/documents", {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body,
      signal: leaving.signal,
      duplex: "half"
    } as RequestInit)
  )
  controller!.enqueue(begun!)
  return {
    answer,
    end: () => {
      controller.enqueue(rest!)
      controller.close()
    },
    breakOff: () => controller.error(new Error("gone")),
    leave: () => leaving.abort()
  }
}

describe("endless uploads", () => {
  it("fill only their client's slots; each slot is released when its upload ends, breaks off or is abandoned", async () => {
    const acme = await started({})
    const held = Array.from({ length: 8 }, () => heldUpload(acme.carrier))
    const ninth = heldUpload(acme.carrier)
    const refused = await ninth.answer
    expect([refused.status, refused.json, refused.headers.get("retry-after"), refused.headers.get("x-waybill-detail")])
      .toEqual([429, ["700"], "5", expect.stringContaining("uploadsPerClient of 8")])
    const other = heldUpload(await acme.carrierOf("other", {}))
    other.end()
    expect((await other.answer).status).toBe(201)
    expect((await service.send("GET", "/invoicing/documents", { key: acme.carrier })).status).toBe(200)
    held[0]!.end()
    expect((await held[0]!.answer).status).toBe(201)
    held[1]!.breakOff()
    expect((await held[1]!.answer).status).toBe(400)
    held[2]!.leave()
    await held[2]!.answer
    const again = Array.from({ length: 3 }, () => heldUpload(acme.carrier))
    expect((await heldUpload(acme.carrier).answer).status).toBe(429)
    for (const each of [...held.slice(3), ...again]) each.end()
    for (const each of [...held.slice(3), ...again]) expect((await each.answer).status).toBe(201)
  })
})

/** A publish call that declares this length, and sends its body later. */
const heldPublish = (key: string, length: number) => {
  let controller: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({ start: (own) => void (controller = own) })
  const answer = service.fetch(
    new Request("http://waybill.test/intake/v1/transit-events", {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json", "content-length": String(length) },
      body,
      duplex: "half"
    } as RequestInit)
  )
  return { answer, end: () => controller.close() }
}

describe("many large bodies at once", () => {
  it("fill only their client's quota of bytes, which each request returns at its end", async () => {
    const acme = await started({})
    const largest = 16 * 1024 ** 2
    const held = Array.from({ length: 8 }, () => heldPublish(acme.carrier, largest))
    const refused = await heldPublish(acme.carrier, 1).answer
    expect([refused.status, refused.headers.get("retry-after"), problemCode(refused), refused.json.detail])
      .toEqual([429, "5", "rate_exceeded", expect.stringContaining("bodyBytesPerClient of 134217728")])
    const other = heldPublish(await acme.carrierOf("other", {}), largest)
    expect((await service.send("GET", "/visibility/v1/events", { key: acme.carrier })).status).toBe(200)
    for (const each of [...held, other]) each.end()
    // Their bodies are empty.
    for (const each of [...held, other]) expect((await each.answer).status).toBe(400)
    const again = Array.from({ length: 8 }, () => heldPublish(acme.carrier, largest))
    for (const each of again) each.end()
    for (const each of again) expect((await each.answer).status).toBe(400)
  })
})

describe("many large responses that are not read", () => {
  it("fill only their client's quota of bytes, beyond which nothing is read, and which each returns when it is read or left", async () => {
    let reads = 0
    const acme = await started({}, Layer.effect(TransitEvents, Effect.map(TransitEvents, (events) => ({
      ...events,
      list: (principal: Principal, query?: typeof EventQuery.Encoded) => Effect.andThen(Effect.sync(() => reads++), events.list(principal, query))
    }))))
    const large = (at: number) => ({ ...reportedEvent(`S${at % 10}`), attributes: { text: Array.from({ length: 60 }, () => "x".repeat(1000)) } })
    for (let call = 0; call < 3; call++) expect((await acme.publish(...Array.from({ length: 200 }, (_, at) => large(at)))).status).toBe(200)
    const page = (key: string) => service.respond(new Request("http://waybill.test/visibility/v1/events?pageSize=500", { headers: { "x-api-key": key } }))
    const held = [await page(acme.carrier), await page(acme.carrier), await page(acme.carrier), await page(acme.carrier)]
    expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const refused = await service.send("GET", "/visibility/v1/events?pageSize=500", { key: acme.carrier })
    expect([refused.status, refused.headers.get("retry-after"), problemCode(refused), refused.json.detail])
      .toEqual([429, "5", "rate_exceeded", expect.stringContaining("responseBytesPerClient of 134217728")])
    expect(reads).toBe(4)
    expect((await acme.publish(reportedEvent("S1"))).status).toBe(200)
    expect((await service.send("GET", "/visibility/v1/events?pageSize=500", { key: await acme.carrierOf("other", {}) })).status).toBe(200)
    await held[0]!.body!.cancel()
    expect((await service.send("GET", "/visibility/v1/events?pageSize=500", { key: acme.carrier })).status).toBe(200)
    expect((await held[1]!.text()).length).toBeGreaterThan(30_000_000)
    for (const each of held.slice(2)) await each.body!.cancel()
  })
})

describe("many documents that are not read", () => {
  it.each(["/openapi.json", "/docs"])("share their bytes, so callers without credentials fill nothing: %s", async (path) => {
    service = await runningService({ logLevel: "Error" })
    const { length } = (await service.send("GET", path)).text
    const held = await Promise.all(Array.from({ length: Math.ceil(130 * 1024 ** 2 / length) }, () => service.respond(new Request(`http://waybill.test${path}`))))
    expect(held.every(({ status }) => status === 200)).toBe(true)
    expect(await held.at(-1)!.text()).toHaveLength(length)
    for (const each of held.slice(0, -1)) await each.body!.cancel()
  })
})

describe("many pages at once", () => {
  it("are read a few at a time for a client, because each holds its events while it waits for its cursor", async () => {
    let [running, most, calls] = [0, 0, 0]
    let open = () => {}
    const opened = new Promise<void>((resolve) => void (open = resolve))
    const counting = Layer.effect(TransitEvents, Effect.map(TransitEvents, (events) => ({
      ...events,
      list: (principal: Principal, query?: typeof EventQuery.Encoded) => Effect.gen(function*() {
        most = Math.max(most, ++running)
        // the call of another client, which is not held back
        if (++calls === readsPerClient + 1) open()
        yield* Effect.promise(() => opened)
        const page = yield* events.list(principal, query)
        running -= 1
        return page
      })
    })))
    service = await runningService({ logLevel: "Error", over: counting })
    const acme = await service.tenant("acme")
    const other = await acme.customer("other", ["A1"])
    const pages = Array.from({ length: 12 }, () => service.send("GET", "/visibility/v1/events", { key: acme.carrier }))
    const answers = await Promise.all([...pages, service.send("GET", "/visibility/v1/events", { key: other })])
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 13 }, () => 200))
    expect(most).toBe(readsPerClient + 1)
  })
})

describe("very many pages at once", () => {
  it("are refused when a hundred of the client run and wait", async () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => void (open = resolve))
    const holding = Layer.effect(TransitEvents, Effect.map(TransitEvents, (events) => ({
      ...events,
      list: (principal: Principal, query?: typeof EventQuery.Encoded) => Effect.andThen(Effect.promise(() => opened), events.list(principal, query))
    })))
    service = await runningService({ logLevel: "Error", over: holding })
    const acme = await service.tenant("acme")
    const page = () => service.send("GET", "/visibility/v1/events", { key: acme.carrier })
    const pages = Array.from({ length: 101 }, page)
    const refused = await Promise.race(pages)
    expect([refused.status, refused.headers.get("retry-after"), problemCode(refused), refused.json.detail])
      .toEqual([429, "5", "rate_exceeded", expect.stringContaining("largeAnswersPerClient of 100")])
    open()
    expect((await Promise.all(pages)).filter(({ status }) => status === 200)).toHaveLength(100)
    expect((await page()).status).toBe(200)
  })
})

describe("pickups above the client's quota of bytes", () => {
  it("are refused with 409 and the quota's name, and do not affect other clients", async () => {
    const acme = await started({ pickupBytesPerClient: 1 })
    const [one, two] = [await acme.customer("one", ["A1"]), await acme.customer("two", ["A1"])]
    const order = (key: string) => service.send("POST", "/pickup/v1/pickups/", { key, body: pickupRequest({ day: `${new Date().getUTCFullYear() + 1}-11-20` }) })
    expect((await order(one)).status).toBe(200)
    const refused = await order(one)
    expect([refused.status, refused.json]).toEqual([409, { message: expect.stringContaining("pickupBytesPerClient of 1") }])
    expect((await order(two)).status).toBe(200)
  })
})

describe("documents above the tenant's quota of bytes", () => {
  const upload = (key: string, bytes: number, invoiceNumber = "4711") =>
    service.send("POST", "/invoicing/documents", {
      key,
      body: documentsSample({ invoiceNumber, documents: [{ documentType: "POD", files: [Buffer.from(`%PDF-1.7 ${"x".repeat(bytes - 9)}`).toString("base64")] }] })
    })

  it("are refused with 409 and the quota's name, also among concurrent uploads, and are accepted again when others are deleted", async () => {
    const { carrier } = await started({ documentBytes: 1000 })
    const answers = await Promise.all(Array.from({ length: 5 }, (_, at) => upload(carrier, 400, `N${at}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409])
    const refused = answers.find(({ status }) => status === 409)!
    expect([refused.json, refused.headers.get("x-waybill-detail")]).toEqual([["500"], expect.stringContaining("documentBytes of 1000")])
    expect((await upload(carrier, 200)).status).toBe(201)
    expect((await upload(carrier, 20)).status).toBe(409)
    expect((await service.send("DELETE", "/invoicing/documents/4711", { key: carrier })).status).toBe(200)
    expect((await upload(carrier, 200)).status).toBe(201)
  })

  it("are refused with 409 when their invoice has as many files as it may", async () => {
    const { carrier } = await started({ documentsPerInvoice: 2 })
    expect([(await upload(carrier, 20)).status, (await upload(carrier, 20)).status]).toEqual([201, 201])
    const refused = await upload(carrier, 20)
    expect([refused.status, refused.json, refused.headers.get("x-waybill-detail")]).toEqual([409, ["500"], expect.stringContaining("documentsPerInvoice of 2")])
    expect((await upload(carrier, 20, "4712")).status).toBe(201)
    expect((await service.send("DELETE", "/invoicing/documents/4711", { key: carrier })).status).toBe(200)
    expect((await upload(carrier, 20)).status).toBe(201)
  })

  it("are refused while they arrive, as soon as they exceed the quota", async () => {
    const { carrier } = await started({ documentBytes: 1000 })
    const controller: { current?: ReadableStreamDefaultController<Uint8Array> } = {}
    const body = new ReadableStream<Uint8Array>({ start: (own) => void (controller.current = own) })
    const answer = service.fetch(
      new Request("http://waybill.test/invoicing/documents", {
        method: "POST",
        headers: { "x-api-key": carrier, "content-type": "application/json" },
        body,
        duplex: "half"
      } as RequestInit)
    )
    const file = Buffer.from(`%PDF-1.7 ${"x".repeat(5000)}`).toString("base64")
    controller.current!.enqueue(new TextEncoder().encode(`{"documents":[{"documentType":"POD","files":["${file}`))
    expect((await answer).status).toBe(409)
  })
})
