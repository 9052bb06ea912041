import { StorageError, TransitEventIntake } from "@waybill/core"
import { TransitEvents } from "@waybill/core/transit-events"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { type Answer, operatorKey, problemCode, reportedEvent, runningService, type TestServiceOptions } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")

const statusAndCode = (answer: Answer) => [answer.status, problemCode(answer)]

describe("an error response", () => {
  it("is problem details with the correlation id as its instance", async () => {
    const answer = await service.send("GET", "/visibility/v1/events?page=0", { key: acme.carrier })
    const id = answer.headers.get("x-request-id")
    expect(answer.json).toEqual({
      status: 400,
      title: "Bad request",
      detail: "page is an integer from 1.",
      instance: `urn:uuid:${id}`,
      code: "invalid_input",
      errors: [{ detail: "page is an integer from 1.", parameter: "page", code: "out_of_bounds" }]
    })
  })

  it("uses the caller's own correlation id if it is safe", async () => {
    const ask = (id: string) => service.send("GET", "/visibility/v1/none", { headers: { "x-request-id": id } })
    const own = await ask("order-4711:retry.2")
    expect(own.headers.get("x-request-id")).toBe("order-4711:retry.2")
    expect(own.json.instance).toBe("urn:request:order-4711:retry.2")
    for (const id of ["", "a b", "<script>", "x".repeat(129), "-a"]) expect((await ask(id)).headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  })

  it("uses no credential as correlation id, because it would be logged", async () => {
    const shown = async (headers: Readonly<Record<string, string>>) => (await service.send("GET", "/visibility/v1/none", { headers })).headers.get("x-request-id")
    for (const key of [acme.carrier, operatorKey]) {
      expect(await shown({ "x-api-key": key, "x-request-id": key })).toMatch(/^[0-9a-f-]{36}$/)
      expect(await shown({ "authorization": `Bearer ${key}`, "x-request-id": key })).toMatch(/^[0-9a-f-]{36}$/)
    }
    expect(await shown({ "x-api-key": acme.carrier, "x-request-id": "order-4711" })).toBe("order-4711")
  })

  it("stays small however large the invalid input is", async () => {
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`${n}${"k".repeat(1500)}`, 1])))
    const answer = await service.send("POST", "/visibility/v1/subscriptions", { key: acme.carrier, body })
    expect(answer.status).toBe(400)
    expect(answer.json.errors.length).toBe(100)
    for (const error of answer.json.errors) expect(error.pointer.length).toBeLessThanOrEqual(1024)
  })
})

describe("paths and methods", () => {
  it.each([
    ["GET", "/visibility/v1/none"],
    ["GET", "/visibility"],
    ["POST", "/intake/v1/invoices"],
    ["GET", "/operator/v1/nothing"],
    ["GET", "/"],
    ["GET", "/somewhere/else"],
    ["GET", "/openapi/nothing.json"],
    ["GET", "/visibility/v1/subscriptions//"]
  ])("%s %s answers 404", async (method, path) => expect(statusAndCode(await service.send(method, path))).toEqual([404, "path_not_found"]))

  it.each([
    ["POST", "/visibility/v1/events", "GET, HEAD, OPTIONS"],
    ["PUT", "/visibility/v1/subscriptions", "GET, POST, HEAD, OPTIONS"],
    ["POST", "/visibility/v1/subscriptions/1", "GET, PATCH, DELETE, HEAD, OPTIONS"],
    ["GET", "/intake/v1/transit-events", "POST, OPTIONS"],
    ["BREW", "/intake/v1/transit-events", "POST, OPTIONS"],
    ["POST", "/healthz", "GET, HEAD, OPTIONS"]
  ])("%s %s answers 405 with the allowed methods", async (method, path, allow) => {
    const answer = await service.send(method, path, { key: acme.carrier })
    expect(statusAndCode(answer)).toEqual([405, "method_not_allowed"])
    expect(answer.headers.get("allow")).toBe(allow)
  })

  it("OPTIONS answers with the allowed methods", async () => {
    const answer = await service.send("OPTIONS", "/visibility/v1/subscriptions")
    expect([answer.status, answer.headers.get("allow")]).toEqual([204, "GET, POST, HEAD, OPTIONS"])
  })

  it("a path that is not UTF-8 answers 400", async () => {
    expect(statusAndCode(await service.send("GET", "/visibility/v1/subscriptions/%ff", { key: acme.carrier }))).toEqual([400, "invalid_path"])
    expect(statusAndCode(await service.send("GET", "/visibility/v1/subscriptions/%", { key: acme.carrier }))).toEqual([400, "invalid_path"])
  })

  it("a path and query beyond 8,192 characters answer 414", async () => {
    const answer = await service.send("GET", `/visibility/v1/events?shipmentId=${"x".repeat(8200)}`, { key: acme.carrier })
    expect(statusAndCode(answer)).toEqual([414, "uri_too_long"])
  })
})

describe("bodies", () => {
  const create = (options: { readonly body?: BodyInit; readonly headers?: Readonly<Record<string, string>>; readonly path?: string; readonly method?: string }) =>
    service.fetch(
      new Request(`http://waybill.test${options.path ?? "/visibility/v1/subscriptions"}`, {
        method: options.method ?? "POST",
        headers: { "x-api-key": acme.carrier, "content-type": "application/json", ...options.headers },
        ...(options.body === undefined ? {} : { body: options.body, duplex: "half" })
      } as RequestInit)
    )

  it.each([
    ["nothing", undefined, [400, "invalid_input"]],
    ["half of JSON", "{\"endpointUrl\":", [400, "invalid_json"]],
    ["JSON with a comma too many", "{\"endpointUrl\":\"https://a.example\",}", [400, "invalid_json"]],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), [400, "invalid_json"]],
    ["an array", "[]", [400, "invalid_input"]],
    ["a number", "1", [400, "invalid_input"]],
    ["null", "null", [400, "invalid_input"]],
    ["more than 1 MiB", JSON.stringify({ endpointUrl: "x".repeat(1_048_576) }), [413, "body_too_large"]]
  ])("%s", async (_what, body, expected) => expect(statusAndCode(await create(body === undefined ? {} : { body }))).toEqual(expected))

  it("that nest too deep are refused before they are parsed", async () => {
    for (const depth of [100, 50_000]) {
      expect(statusAndCode(await create({ body: `{"filters":${"[".repeat(depth)}${"]".repeat(depth)}}` }))).toEqual([400, "invalid_input"])
      const events = await service.send("POST", "/intake/v1/transit-events", { key: acme.carrier, body: `{"events":[${"[".repeat(depth)}${"]".repeat(depth)}]}` })
      expect(statusAndCode(events)).toEqual([400, "invalid_input"])
      const attributes = await service.send("POST", "/intake/v1/transit-events", {
        key: acme.carrier,
        body: `{"events":[{"type":"DELAY","attributes":${"{\"a\":".repeat(depth)}1${"}".repeat(depth)}}]}`
      })
      expect(statusAndCode(attributes)).toEqual([400, "invalid_input"])
    }
  })

  it("that are too large are refused by Content-Length, or while they arrive", async () => {
    expect(statusAndCode(await create({ body: "{}", headers: { "content-length": "999999999" } }))).toEqual([413, "body_too_large"])
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1
        controller.enqueue(new Uint8Array(16_384).fill(0x20))
      }
    })
    expect(statusAndCode(await create({ body: endless }))).toEqual([413, "body_too_large"])
    expect(pulled).toBeLessThan(70)
  })

  it("that break off or never end are aborted", async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("gone")) })
    expect(statusAndCode(await create({ body: broken }))).toEqual([400, "body_incomplete"])
    const hasty = await runningService({ bodyTimeoutMillis: 20 })
    const tenant = await hasty.tenant("acme")
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    const answer = await hasty.fetch(
      new Request("http://waybill.test/visibility/v1/subscriptions", {
        method: "POST",
        headers: { "x-api-key": tenant.carrier, "content-type": "application/json" },
        body: silent,
        duplex: "half"
      } as RequestInit)
    )
    expect(statusAndCode(answer)).toEqual([408, "body_too_slow"])
  })

  it.each([
    ["POST", "text/plain", 415],
    ["POST", "application/x-www-form-urlencoded", 415],
    ["POST", "application/merge-patch", 415],
    ["POST", "application/json; charset=iso-8859-1", 415],
    ["POST", "application/json;charset=\"UTF-8\"", 400],
    ["POST", "Application/JSON", 400],
    ["POST", "application/vnd.acme.event+json", 400],
    ["PATCH", "application/json-patch+json", 415],
    ["PATCH", "application/json", 404],
    ["PATCH", "application/merge-patch+json", 404]
  ])("%s as %s answers %i", async (method, contentType, status) => {
    const path = method === "PATCH" ? "/visibility/v1/subscriptions/0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77" : "/visibility/v1/subscriptions"
    const answer = await create({ method, path, body: "{}", headers: { "content-type": contentType } })
    expect(answer.status).toBe(status)
    if (status !== 415) return
    expect(problemCode(answer)).toBe("unsupported_media_type")
    expect(answer.headers.get(method === "PATCH" ? "accept-patch" : "accept-post")).toContain("json")
  })

  it("without a media type, or compressed, get 415", async () => {
    const untyped = new Request("http://waybill.test/visibility/v1/subscriptions", { method: "POST", headers: { "x-api-key": acme.carrier }, body: new Uint8Array([0x7b, 0x7d]) })
    expect((await service.fetch(untyped)).status).toBe(415)
    const packed = await create({ body: "{}", headers: { "content-encoding": "gzip" } })
    expect(statusAndCode(packed)).toEqual([415, "unsupported_content_encoding"])
    expect(packed.headers.get("accept-encoding")).toBe("identity")
  })

  it("may start with a byte order mark, which is ignored", async () => {
    expect((await create({ body: "\ufeff{\"endpointUrl\":\"https://receiver.example/hook\",\"hmacSecretId\":\"main\"}" })).status).toBe(201)
  })
})

describe("failures of the service", () => {
  /** The service with a failing use case, and a key of its own. */
  const startFaulty = async (over: TestServiceOptions["over"]) => {
    const faulty = await runningService({ over })
    const tenant = await faulty.tenant("acme")
    const ask = (method: string, path: string) =>
      faulty.send(method, path, { key: tenant.carrier, ...(method === "POST" ? { body: { events: [reportedEvent("S1")] } } : {}) })
    return Object.assign(ask, { log: faulty.log })
  }

  it("answer 503 with Retry-After when the storage fails, without details, and say of writes only that they may have been carried out", async () => {
    const fails = () => Effect.fail(new StorageError({ operation: "TransitEventStore.page", cause: new Error("password authentication failed for 10.0.0.7") }))
    const failing = Layer.fresh(TransitEventIntake.layer).pipe(Layer.provideMerge(Layer.succeed(TransitEvents, TransitEvents.of({
      list: fails,
      append: fails,
      history: () => Effect.die("not called"),
      since: () => Effect.die("not called")
    }))))
    const faulty = await startFaulty(failing)
    const answer = await faulty("GET", "/visibility/v1/events")
    expect(statusAndCode(answer)).toEqual([503, "unavailable"])
    expect(answer.headers.get("retry-after")).toBe("1")
    expect(answer.text).not.toMatch(/password|10\.0\.0\.7|TransitEventStore|carried out/)
    const write = await faulty("POST", "/intake/v1/transit-events")
    expect([statusAndCode(write), write.text]).toEqual([[503, "unavailable"], expect.stringContaining("This call may have been carried out.")])
  })

  it("answer 500 to a defect, with the correlation id of its log entry and never a stack", async () => {
    const failing = Layer.fresh(TransitEventIntake.layer).pipe(Layer.provideMerge(Layer.succeed(TransitEvents, TransitEvents.of({
      list: () => Effect.die(new TypeError("secret stack")),
      append: () => Effect.die("text"),
      history: () => Effect.die("not called"),
      since: () => Effect.die("not called")
    }))))
    const faulty = await startFaulty(failing)
    for (const [method, path] of [["GET", "/visibility/v1/events"], ["POST", "/intake/v1/transit-events"]] as const) {
      const answer = await faulty(method, path)
      expect(statusAndCode(answer)).toEqual([500, "internal_error"])
      expect(answer.text).not.toMatch(/secret stack|TypeError|at /)
      const id = answer.headers.get("x-request-id")
      expect(answer.json.instance).toBe(`urn:uuid:${id}`)
      const line = faulty.log.find(({ annotations, cause }) => annotations["correlationId"] === id && cause !== undefined)
      expect(line?.level).toBe("ERROR")
    }
  })
})

describe("the access log", () => {
  it("has one line per request, with names from the service and nothing from the caller", async () => {
    const before = service.log.length
    await service.send("POST", "/intake/v1/transit-events?partial=true", {
      key: acme.carrier,
      body: { events: [reportedEvent("hidden-in-body", { eventId: "hidden-id" })] },
      headers: { "x-request-id": "log-1" }
    })
    await service.send("GET", "/visibility/v1/subscriptions/hidden-in-path", { key: "hidden-key", headers: { "x-request-id": "log-2" } })
    await service.send("GET", "/hidden/path?token=hidden-in-query", { headers: { "x-request-id": "log-3" } })
    await service.send("GET", "/operator/v1/tenants/acme/deliveries", { key: operatorKey, headers: { "x-request-id": "log-4" } })
    const lines = service.log.slice(before).filter(({ annotations, level }) => annotations["status"] !== undefined && level !== "DEBUG")
    expect(lines.map(({ annotations: { durationMillis, ...rest }, message }) => ({ message, ...rest, timed: typeof durationMillis }))).toEqual([
      { message: "POST /intake/v1/transit-events 200", correlationId: "log-1", method: "POST", route: "/intake/v1/transit-events", status: 200, tenant: "acme", client: "key:carrier", timed: "number" },
      { message: "Access refused: unknown key.", address: "unknown", correlationId: "log-2", method: "GET", route: "/visibility/v1/subscriptions/{subscriptionId}", status: 401, timed: "number" },
      { message: "GET (none) 404", correlationId: "log-3", method: "GET", route: "(none)", status: 404, timed: "number" },
      { message: "GET /operator/v1/tenants/{tenantId}/deliveries 200", correlationId: "log-4", method: "GET", route: "/operator/v1/tenants/{tenantId}/deliveries", status: 200, client: "operator", timed: "number" }
    ])
    expect(JSON.stringify(service.log.slice(before))).not.toMatch(/hidden|wb\./)
  })
})
