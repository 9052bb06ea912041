import { describe, expect, it } from "vitest"
import { type Answer, problemCode, reportedEvent, runningService } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")

const linksOf = (answer: Answer): Readonly<Record<string, string>> =>
  Object.fromEntries([...answer.headers.get("link")!.matchAll(/<([^>]+)>; rel="([a-z]+)"/g)].map(([, target, rel]) => [rel, target]))

const follow = (url: string, key: string) => service.fetch(new Request(url, { headers: { "x-api-key": key } }))

const idsOf = (answer: Answer): ReadonlyArray<string> => answer.json.data.map((event: { eventId: string }) => event.eventId)

describe("GET /v1/events", () => {
  it("answers a page with its position in body and headers", async () => {
    const tenant = await service.tenant("page-places")
    await tenant.publish(...Array.from({ length: 5 }, (_, n) => reportedEvent("S1", { eventId: `e${n}` })))
    const answer = await service.send("GET", "/visibility/v1/events?page=2&pageSize=2", { key: tenant.carrier })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("application/json")
    const { data, ...place } = answer.json
    expect(place).toEqual({ page: 2, pageSize: 2, totalPages: 3, totalCount: 5 })
    expect(data.map((event: { eventId: string }) => event.eventId)).toEqual(["e2", "e3"])
    expect(answer.headers.get("x-page")).toBe("2")
    expect(answer.headers.get("x-page-size")).toBe("2")
    expect(answer.headers.get("x-total-count")).toBe("5")
    expect(answer.headers.get("x-total-pages")).toBe("3")
    expect(Object.keys(linksOf(answer))).toEqual(["first", "prev", "next", "last"])
  })

  it("returns the stored bytes of events unchanged", async () => {
    const tenant = await service.tenant("bytes")
    const odd = "{\"zebra\":1.50,\"type\":\"DELAY\",\"occurredAt\":\"2026-11-20T08:15:00.000-06:00\",\"eventId\":\"raw\"," +
      "\"shipment\":{\"origin\":{},\"destination\":{},\"shipmentId\":\"S1\",\"later\":{\"z\":1,\"a\":2}}}"
    await service.send("POST", "/intake/v1/transit-events", { key: tenant.carrier, body: `{"events":[${odd}]}` })
    const answer = await service.send("GET", "/visibility/v1/events", { key: tenant.carrier })
    expect(answer.text).toBe(
      "{\"data\":[{\"eventId\":\"raw\",\"sequence\":1,\"zebra\":1.5,\"type\":\"DELAY\",\"occurredAt\":\"2026-11-20T08:15:00.000-06:00\"," +
        "\"shipment\":{\"origin\":{},\"destination\":{},\"shipmentId\":\"S1\",\"later\":{\"z\":1,\"a\":2}}}]," +
        "\"page\":1,\"pageSize\":100,\"totalPages\":1,\"totalCount\":1}"
    )
  })

  it("returns an empty page for an empty log", async () => {
    const tenant = await service.tenant("empty")
    const answer = await service.send("GET", "/visibility/v1/events", { key: tenant.carrier })
    expect(answer.json).toEqual({ data: [], page: 1, pageSize: 100, totalPages: 0, totalCount: 0 })
    expect(Object.keys(linksOf(answer))).toEqual(["first"])
  })

  it("contains the time of its generation", async () => {
    const before = Math.floor(Date.now() / 1000) * 1000
    const answer = await service.send("GET", "/visibility/v1/events", { key: acme.carrier })
    // SPEC-GAP-D26
    for (const header of ["date", "last-modified"]) expect(Date.parse(answer.headers.get(header)!)).toBeGreaterThanOrEqual(before)
  })

  it("filters by shipment, types and time, and repeats every filter in its links (SPEC-GAP-D6)", async () => {
    const tenant = await service.tenant("filters")
    await tenant.publish(
      reportedEvent("S1", { eventId: "a", type: "PICKED_UP", occurredAt: "2026-11-20T10:00:00+02:00" }),
      reportedEvent("S1", { eventId: "b", type: "DELAY", occurredAt: "2026-11-20T11:00:00+02:00" }),
      reportedEvent("S1", { eventId: "c", type: "DELIVERED", occurredAt: "2026-11-20T12:00:00+02:00" }),
      reportedEvent("S 2 & 3", { eventId: "d", type: "DELAY", occurredAt: "2026-11-20T11:00:00+02:00" })
    )
    const list = (query: string) => service.send("GET", `/visibility/v1/events?${query}`, { key: tenant.carrier })
    expect(idsOf(await list("shipmentId=S1"))).toEqual(["a", "b", "c"])
    expect(idsOf(await list("shipmentId=S+2+%26+3"))).toEqual(["d"])
    expect(idsOf(await list("eventTypes=DELAY&eventTypes=DELIVERED"))).toEqual(["d", "b", "c"])
    expect(idsOf(await list("eventTypes=DELAY,DELIVERED&shipmentId=S1"))).toEqual(["b", "c"])
    expect(idsOf(await list("occurredFrom=2026-11-20T11:00:00%2B02:00&occurredTo=2026-11-20T12:00:00%2B02:00"))).toEqual(["d", "b"])
    expect(idsOf(await list("order=desc&shipmentId=S1"))).toEqual(["c", "b", "a"])

    const first = await list("eventTypes=DELAY&eventTypes=DELIVERED&occurredFrom=2026-11-20T10:00:00%2B02:00&order=desc&pageSize=1")
    const next = new URL(linksOf(first)["next"]!)
    expect(next.origin + next.pathname).toBe("http://waybill.test/visibility/v1/events")
    expect(next.searchParams.getAll("eventTypes")).toEqual(["DELAY", "DELIVERED"])
    expect(next.searchParams.get("occurredFrom")).toBe("2026-11-20T10:00:00+02:00")
    expect(next.searchParams.get("order")).toBe("desc")
    expect(next.searchParams.get("pageSize")).toBe("1")
    expect(next.searchParams.get("page")).toBe("2")
    expect(idsOf(await follow(next.href, tenant.carrier))).toEqual(["b"])
  })

  it("keeps only the next link when the filters are long, because clients refuse long headers", async () => {
    const tenant = await service.tenant("long-links")
    const shipmentId = "船".repeat(190)
    await tenant.publish(reportedEvent(shipmentId, { eventId: "a" }), reportedEvent(shipmentId, { eventId: "b" }))
    const list = (size: number) => service.send("GET", `/visibility/v1/events?pageSize=${size}&shipmentId=${encodeURIComponent(shipmentId)}`, { key: tenant.carrier })
    const first = await list(1)
    expect(Object.keys(linksOf(first))).toEqual(["next"])
    expect(first.headers.get("link")!.length).toBeLessThan(8000)
    expect(idsOf(await follow(linksOf(first)["next"]!, tenant.carrier))).toEqual(["b"])
    expect((await list(2)).headers.get("link")).toBe(null)
  })

  it("repairs an offset whose plus was decoded as a blank", async () => {
    const answer = await service.send("GET", "/visibility/v1/events?occurredFrom=2026-11-20T10:00:00+02:00", { key: acme.carrier })
    expect(answer.status).toBe(200)
  })

  it("refuses unknown parameters, with the nearest known one", async () => {
    const answer = await service.send("GET", "/visibility/v1/events?eventtypes=DELAY&__proto__=1&&%zz=3", { key: acme.carrier })
    expect([answer.status, answer.json.errors]).toEqual([400, [
      { detail: "This call has no query parameter eventtypes. Did you mean eventTypes?", parameter: "eventtypes", code: "unknown_field" },
      { detail: "This call has no query parameter __proto__. It has shipmentId, eventTypes, occurredFrom, occurredTo, page, pageSize, order, cursor.", parameter: "__proto__", code: "unknown_field" },
      { detail: "The query is not percent-encoded UTF-8.", pointer: "", code: "invalid" }
    ]])
  })

  it.each([
    ["page=0", "page"],
    ["page=-1", "page"],
    ["page=1.5", "page"],
    ["page=abc", "page"],
    ["page=", "page"],
    ["page=99999999999999999999999", "page"],
    ["page=1&page=2", "page"],
    ["pageSize=501", "pageSize"],
    ["pageSize=0", "pageSize"],
    ["order=up", "order"],
    ["occurredFrom=yesterday", "occurredFrom"],
    ["occurredTo=2026-11-20", "occurredTo"],
    ["occurredTo=2026-11-20T10:00:00", "occurredTo"],
    ["eventTypes=LOST", "eventTypes"],
    ["eventTypes=", "eventTypes"],
    ["eventTypes=,&eventTypes=", "eventTypes"],
    ["shipmentId=", "shipmentId"],
    ["shipmentId=%00", "shipmentId"],
    ["shipmentId=%ff", "shipmentId"],
    ["shipmentId=a&shipmentId=b", "shipmentId"],
    ["cursor=...", "cursor"],
    ["page=2&cursor=e30", "cursor"],
    [`page=2&cursor=${Buffer.from("{\"page\":2,\"snapshot\":\"\\u0000\",\"after\":{\"shipmentId\":\"\\u0000\",\"sequence\":1,\"eventId\":\"e\"},\"totalCount\":1}").toString("base64url")}`, "cursor"]
  ])("refuses ?%s and names the parameter", async (query, parameter) => {
    const answer = await service.send("GET", `/visibility/v1/events?${query}`, { key: acme.carrier })
    expect(problemCode(answer)).toBe("invalid_input")
    expect(answer.status).toBe(400)
    expect(answer.json.errors.map((error: { parameter: string }) => error.parameter)).toContain(parameter)
    expect(answer.json.errors[0].pointer).toBeUndefined()
  })

  it("tells a number beyond its bounds from what is no integer", async () => {
    const codeOf = async (query: string) => (await service.send("GET", `/visibility/v1/events?${query}`, { key: acme.carrier })).json.errors.map((error: { code: string }) => error.code)
    for (const beyond of ["page=0", "page=-1", "pageSize=501", "page=99999999999999999999999"]) expect(await codeOf(beyond)).toEqual(["out_of_bounds"])
    for (const wrong of ["page=abc", "page=", "page=1.5"]) expect(await codeOf(wrong)).toEqual(["invalid"])
  })

  it("keeps the pages of one list stable while events arrive", async () => {
    const tenant = await service.tenant("walks")
    await tenant.publish(...Array.from({ length: 7 }, (_, n) => reportedEvent(`S${n}`, { eventId: `old${n}` })))
    let answer = await service.send("GET", "/visibility/v1/events?pageSize=2", { key: tenant.carrier })
    const seen = [...idsOf(answer)]
    for (let n = 0; linksOf(answer)["next"] !== undefined; n++) {
      // Before and after the events of the page.
      await tenant.publish(reportedEvent("A", { eventId: `new-a${n}` }), reportedEvent("Z", { eventId: `new-z${n}` }))
      answer = await follow(linksOf(answer)["next"]!, tenant.carrier)
      expect(answer.json.totalCount).toBe(7)
      seen.push(...idsOf(answer))
    }
    expect(seen).toEqual(Array.from({ length: 7 }, (_, n) => `old${n}`))
  })

  it("answers HEAD like GET, without the body", async () => {
    const get = await service.send("GET", "/visibility/v1/events", { key: acme.carrier })
    const head = await service.send("HEAD", "/visibility/v1/events", { key: acme.carrier })
    expect(head.status).toBe(200)
    expect(head.text).toBe("")
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"))
    expect(head.headers.get("x-page")).toBe("1")
  })

  it("shows customers the shipments of their own accounts only", async () => {
    const tenant = await service.tenant("accounts")
    await tenant.publish(
      reportedEvent("mine", { eventId: "mine", accounts: ["A1"] }),
      reportedEvent("theirs", { eventId: "theirs", accounts: ["A2"] }),
      reportedEvent("nobodys", { eventId: "nobodys" })
    )
    expect(idsOf(await service.send("GET", "/visibility/v1/events", { key: await tenant.customer("shop", ["A1"]) }))).toEqual(["mine"])
    expect(idsOf(await service.send("GET", "/visibility/v1/events", { key: tenant.carrier }))).toEqual(["mine", "nobodys", "theirs"])
  })
})

describe("subscriptions", () => {
  it("are created with 201 and their URL", async () => {
    const created = await acme.subscribe(acme.carrier, { filters: { eventTypes: ["DELIVERED"] } })
    expect(created.status).toBe(201)
    expect(created.json).toMatchObject({
      endpointUrl: "https://receiver.example/hook",
      hmacSecretId: "main",
      filters: { eventTypes: ["DELIVERED"] },
      delivery: { maxAttempts: 12, initialBackoffSeconds: 5, maxBackoffSeconds: 3600, batchMaxSize: 200, rateLimitPerMinute: 600 },
      status: "active"
    })
    expect(created.headers.get("location")).toBe(`http://waybill.test/visibility/v1/subscriptions/${created.json.id}`)
    const found = await follow(created.headers.get("location")!, acme.carrier)
    expect(found.status).toBe(200)
    expect(found.json).toEqual(created.json)
  })

  it("are updated by merge patch, in either media type", async () => {
    const { json: { id } } = await acme.subscribe(acme.carrier, { filters: { shipmentIds: ["S1"] }, delivery: { maxAttempts: 3 } })
    const path = `/visibility/v1/subscriptions/${id}`
    const patched = await service.send("PATCH", path, { key: acme.carrier, body: { filters: null, delivery: { maxAttempts: null, batchMaxSize: 5 } } })
    expect(patched.status).toBe(200)
    expect(patched.json.filters).toBeUndefined()
    expect(patched.json.delivery).toMatchObject({ maxAttempts: 12, batchMaxSize: 5 })
    const paused = await service.send("PATCH", path, {
      key: acme.carrier,
      body: { status: "paused" },
      headers: { "content-type": "application/json" }
    })
    expect(paused.json).toMatchObject({ status: "paused", delivery: { batchMaxSize: 5 } })
  })

  it("are listed by status, page by page", async () => {
    const tenant = await service.tenant("listing")
    const ids: Array<string> = []
    for (let n = 0; n < 3; n++) ids.push((await tenant.subscribe(tenant.carrier)).json.id)
    await service.send("PATCH", `/visibility/v1/subscriptions/${ids[1]}`, { key: tenant.carrier, body: { status: "paused" } })
    const first = await service.send("GET", "/visibility/v1/subscriptions?pageSize=1", { key: tenant.carrier })
    expect(first.json).toMatchObject({ page: 1, pageSize: 1, totalPages: 2, totalCount: 2 })
    expect(first.json.data.map((each: { id: string }) => each.id)).toEqual([ids[0]])
    const second = await follow(linksOf(first)["next"]!, tenant.carrier)
    expect(second.json.data.map((each: { id: string }) => each.id)).toEqual([ids[2]])
    expect(linksOf(second)["next"]).toBeUndefined()
    const paused = await service.send("GET", "/visibility/v1/subscriptions?status=paused", { key: tenant.carrier })
    expect(paused.json.data.map((each: { id: string }) => each.id)).toEqual([ids[1]])
    expect(linksOf(paused)["first"]).toContain("status=paused")
  })

  it("are deleted with 204, repeatedly", async () => {
    const { json: { id } } = await acme.subscribe(acme.carrier)
    const path = `/visibility/v1/subscriptions/${id}`
    const removed = await service.send("DELETE", path, { key: acme.carrier })
    expect([removed.status, removed.text]).toEqual([204, ""])
    expect((await service.send("DELETE", path, { key: acme.carrier })).status).toBe(204)
    expect((await service.send("GET", path, { key: acme.carrier })).status).toBe(404)
    expect((await service.send("PATCH", path, { key: acme.carrier, body: {} })).status).toBe(404)
  })

  it.each([
    ["an unknown member", { more: true }, "/more", "unknown_field"],
    ["an unknown filter", { filters: { carriers: [] } }, "/filters/carriers", "unknown_field"],
    ["an unknown event type", { filters: { eventTypes: ["DELAY", "LOST"] } }, "/filters/eventTypes/1", "invalid"],
    ["a secret that is not registered", { hmacSecretId: "other" }, "/hmacSecretId", "unknown_reference"],
    ["plain http", { endpointUrl: "http://receiver.example/hook" }, "/endpointUrl", "not_allowed"],
    ["no address at all", { endpointUrl: "receiver" }, "/endpointUrl", "invalid"],
    ["an address with control characters", { endpointUrl: "https://receiver.example/\u0000" }, "/endpointUrl", "invalid"],
    ["a batch size above the limit", { delivery: { batchMaxSize: 1001 } }, "/delivery/batchMaxSize", "out_of_bounds"],
    ["a status, which only a patch can set", { status: "paused" }, "/status", "unknown_field"]
  ])("refuse %s, with a pointer", async (_what, more, pointer, code) => {
    const answer = await acme.subscribe(acme.carrier, more)
    expect(answer.status).toBe(400)
    expect(problemCode(answer)).toBe("invalid_input")
    expect(answer.json.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code])).toContainEqual([pointer, code])
  })

  it("refuse a body without the two required members, naming both", async () => {
    const answer = await service.send("POST", "/visibility/v1/subscriptions", { key: acme.carrier, body: {} })
    expect(answer.json.errors).toEqual([
      { pointer: "/endpointUrl", detail: "This field is required.", code: "required" },
      { pointer: "/hmacSecretId", detail: "This field is required.", code: "required" }
    ])
    expect(answer.json.detail).toBe("endpointUrl: This field is required. And 1 more: see errors.")
  })

  it.each(["0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77", "nothing", "%00", "%F0%9F%98%80", "..", "a%2Fb", "x".repeat(300)])(
    "answer 404 to the id %s",
    async (id) => {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const request = new Request("http://waybill.test/", { method, headers: { "x-api-key": acme.carrier, "content-type": "application/json" }, ...(method === "PATCH" ? { body: "{}" } : {}) })
        // `URL` would remove dot segments.
        Object.defineProperty(request, "url", { value: `http://waybill.test/visibility/v1/subscriptions/${id}` })
        const answer = await service.fetch(request)
        expect([answer.status, problemCode(answer)]).toEqual([404, "subscription_not_found"])
      }
    }
  )
})

describe("paths", () => {
  it("match with and without a trailing slash", async () => {
    for (const path of ["/visibility/v1/events/", "/visibility/v1/subscriptions/", "/visibility/v1/events/?page=1"]) {
      expect((await service.send("GET", path, { key: acme.carrier })).status).toBe(200)
    }
    const { json: { id } } = await acme.subscribe(acme.carrier)
    expect((await service.send("GET", `/visibility/v1/subscriptions/${id}/`, { key: acme.carrier })).json.id).toBe(id)
  })

  it("match exactly: no other case, no doubled or encoded slash", async () => {
    for (const path of ["/Visibility/v1/events", "/visibility//v1/events", "/visibility%2Fv1/events", "/visibility/v1/events;a=b"]) {
      expect((await service.send("GET", path, { key: acme.carrier })).status).toBe(404)
    }
    expect((await service.send("GET", "/visibility/v1/%65vents", { key: acme.carrier })).status).toBe(200)
  })

  it("follow their base path (SPEC-GAP-D1)", async () => {
    const moved = await runningService({ basePaths: { transitEvents: "/api/freight/" }, publicBaseUrl: "https://freight.example.com/edge/" })
    const tenant = await moved.tenant("acme")
    expect((await moved.send("GET", "/visibility/v1/events", { key: tenant.carrier })).status).toBe(404)
    const created = await moved.send("POST", "/api/freight/v1/subscriptions", {
      key: tenant.carrier,
      body: { endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" }
    })
    expect(created.headers.get("location")).toBe(`https://freight.example.com/edge/api/freight/v1/subscriptions/${created.json.id}`)
    const document = await moved.send("GET", "/openapi.json")
    expect(Object.keys(document.json.paths)).toContain("/api/freight/v1/events")
    expect(document.json.servers).toEqual([{ url: "https://freight.example.com/edge" }])
  })

  it("trust forwarded headers only if configured", async () => {
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "freight.example.com" }
    const own = await service.send("GET", "/visibility/v1/events", { key: acme.carrier, headers })
    expect(linksOf(own)["first"]).toMatch(/^http:\/\/waybill\.test\//)
    const trusting = await runningService({ trustForwarded: true })
    const tenant = await trusting.tenant("acme")
    const behind = await trusting.send("GET", "/visibility/v1/events", { key: tenant.carrier, headers })
    expect(linksOf(behind)["first"]).toMatch(/^https:\/\/freight\.example\.com\/visibility\//)
    const forged = await trusting.send("GET", "/visibility/v1/events", { key: tenant.carrier, headers: { "x-forwarded-host": "a>; rel=\"next\"" } })
    expect(linksOf(forged)["first"]).toMatch(/^\/visibility\//)
  })
})
