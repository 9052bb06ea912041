import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { type ConnectionOptions, WaybillCallFailed, WaybillProblem } from "../../src/connection/index.ts"
import { type Call, Connection } from "../../src/connection/Connection.ts"
import { type AnswerRequest, json, never, problem, scriptedServer } from "../scripted-server.ts"

const list: Call = { method: "GET", path: ["v1", "things"], repeatable: true }
const create: Call = { method: "POST", path: ["v1", "things"], body: { a: 1 }, repeatable: false }

const connected = (answer: AnswerRequest, options: Partial<ConnectionOptions> = {}, basePath = "/area") => {
  const server = scriptedServer(answer)
  return { ...server, connection: new Connection({ baseUrl: "https://waybill.test", fetch: server.fetch, ...options }, basePath) }
}
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => "it did not fail", (error: unknown) => error)

describe("Connection", () => {
  it("requests JSON below the base path and returns JSON", async () => {
    const { connection, received } = connected(() => json({ a: 1 }))
    expect((await connection.send(list)).json).toEqual({ a: 1 })
    expect(received[0]).toMatchObject({ method: "GET", url: "https://waybill.test/area/v1/things", body: undefined })
    expect(received[0]!.headers.get("accept")).toContain("application/json")
    expect([...received[0]!.headers.keys()]).not.toContain("content-type")
  })

  it.each([
    ["https://waybill.test", "/area", "https://waybill.test/area/v1/things"],
    ["https://waybill.test/", "area/", "https://waybill.test/area/v1/things"],
    ["https://waybill.test:8443/freight/", "/a/b", "https://waybill.test:8443/freight/a/b/v1/things"],
    ["http://127.0.0.1:8080?x=1#y", "", "http://127.0.0.1:8080/v1/things"]
  ])("joins %s and %j", async (baseUrl, basePath, url) => {
    for (const given of [baseUrl, new URL(baseUrl)]) {
      const { connection, received } = connected(() => json({}), { baseUrl: given }, basePath)
      await connection.send(list)
      expect(received[0]!.url).toBe(url)
    }
  })

  it.each([undefined, "", "freight.example.com", "localhost:8080", "ftp://freight.example.com"])("says what to give instead of %j as the base URL", (baseUrl) => {
    expect(() => new Connection({ baseUrl: baseUrl as string }, "")).toThrow(
      `baseUrl is ${JSON.stringify(baseUrl) ?? "missing"}. Give the address of the server, such as "https://freight.example.com".`
    )
  })

  it.each<readonly [object, string]>([
    [{ apikey: "x" }, "the client has no option apikey. It has baseUrl, basePath, apiKey, bearer, timeoutMillis, retry, fetch, streamUploads."],
    [{ apiKey: null }, "apiKey of the client is a text or a function, and got null."],
    [{ bearer: 5 }, "bearer of the client is a text or a function, and got 5."],
    [{ timeoutMillis: NaN }, "timeoutMillis of the client is a number above 0, and got NaN."],
    [{ timeoutMillis: -1 }, "timeoutMillis of the client is a number above 0, and got -1."],
    [{ retry: true }, "retry of the client is false or an object, and got a value of type boolean."],
    [{ retry: { attempts: NaN } }, "attempts of retry is a whole number from 1, and got NaN."],
    [{ retry: { attempt: 2 } }, "retry has no option attempt."],
    [{ fetch: "x" }, "fetch of the client is a function, and got a value of type string."]
  ])("refuses %j", (options, message) => {
    expect(() => new Connection({ baseUrl: "https://waybill.test", ...options } as never, "")).toThrow(message)
  })

  it("encodes ids and queries, repeats lists, writes dates, and leaves out undefined values", async () => {
    const { connection, received } = connected(() => json({}))
    await connection.send({ ...list, path: ["a/b?c#d", "ü %2e"], query: { type: ["A", "B"], from: new Date(0), at: "2026-01-01T00:00:00+02:00", no: undefined, page: 2, some: [] } })
    expect(received[0]!.url).toBe(
      "https://waybill.test/area/a%2Fb%3Fc%23d/%C3%BC%20%252e?type=A&type=B&from=1970-01-01T00%3A00%3A00.000Z&at=2026-01-01T00%3A00%3A00%2B02%3A00&page=2"
    )
  })

  it.each(["", ".", ".."])("refuses %j as an id, because it would address another resource", async (id) => {
    const { connection, received } = connected(() => json({}))
    await expect(connection.send({ ...list, path: ["v1", "things", id] })).rejects.toThrow(TypeError)
    expect(received).toEqual([])
  })

  it("calls the runtime's fetch as a method of globalThis", async () => {
    const fetch = vi.spyOn(globalThis, "fetch").mockImplementation(function(this: unknown) {
      return Promise.resolve(json({ asked: this === undefined || this === globalThis }))
    })
    onTestFinished(() => void fetch.mockRestore())
    const connection = new Connection({ baseUrl: "https://waybill.test" }, "")
    expect((await connection.send(list)).json).toEqual({ asked: true })
  })

  describe("authentication", () => {
    it("sends a key, a token, or nothing", async () => {
      const sent = async (options: Partial<ConnectionOptions>) => {
        const { connection, received } = connected(() => json({}), options)
        await connection.send(list)
        return [received[0]!.headers.get("x-api-key"), received[0]!.headers.get("authorization")]
      }
      expect(await sent({ apiKey: "k-1" })).toEqual(["k-1", null])
      expect(await sent({ bearer: "a.b.c" })).toEqual([null, "Bearer a.b.c"])
      expect(await sent({ bearer: async () => "later" })).toEqual([null, "Bearer later"])
      expect(await sent({})).toEqual([null, null])
    })

    it("asks for a token before every attempt", async () => {
      let asked = 0
      const { connection, received } = connected((_, count) => count === 0 ? problem(503) : json({}), { bearer: () => `t${asked++}`, retry: { firstPauseMillis: 0 } })
      await connection.send(list)
      expect(received.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer t0", "Bearer t1"])
    })

    it("refuses a key together with a token", () => expect(() => connected(() => json({}), { apiKey: "a", bearer: "b" })).toThrow("not both"))

    it.each(["", "two words", "k\n", "k\r\nx-evil: 1", "schlüssel"])("refuses %j as a credential without showing it", async (apiKey) => {
      const { connection, received } = connected(() => json({}), { apiKey })
      const error = await failure(connection.send(list)) as Error
      expect(error).toBeInstanceOf(TypeError)
      if (apiKey !== "") expect(error.message).not.toContain(apiKey)
      expect(received).toEqual([])
    })

    it("fails with the error of a failing token function", async () => {
      const { connection } = connected(() => json({}), { bearer: () => Promise.reject(new Error("login expired")) })
      await expect(connection.send(list)).rejects.toThrow("login expired")
    })
  })

  describe("on an error response", () => {
    it("fails with everything in the problem details", async () => {
      const errors = [{ detail: "endpointUrl is an absolute https address.", pointer: "/endpointUrl", code: "invalid" }]
      const body = { title: "Invalid input", detail: "One field is wrong.", code: "invalid_input", instance: "/errors/42", errors }
      const { connection } = connected(() => problem(422, body, { "retry-after": "7" }), { apiKey: "secret-key" })
      const error = await failure(connection.send(create)) as WaybillProblem
      expect(error).toBeInstanceOf(WaybillProblem)
      expect(error).toMatchObject({ status: 422, ...body, retryAfterSeconds: 7, call: { method: "POST", url: "https://waybill.test/area/v1/things" } })
      expect(error.message).toBe("POST https://waybill.test/area/v1/things answered 422: One field is wrong.")
      expect(JSON.stringify([error, error.message, error.stack])).not.toContain("secret-key")
    })

    it.each([["<html>502</html>", "HTTP 502"], ["", "HTTP 502"], ["[1]", "HTTP 502"], ["{\"message\":\"gone\"}", "gone"], ["{\"title\":5,\"errors\":[1,{\"detail\":\"x\"}]}", "HTTP 502"]])(
      "fails with a problem for the body %j",
      async (body, title) => {
        const { connection } = connected(() => new Response(body, { status: 502 }))
        expect(await failure(connection.send(list))).toMatchObject({ name: "WaybillProblem", status: 502, title, code: "", body })
      }
    )
  })

  it("reads an empty success as undefined", async () => {
    const { connection } = connected(() => new Response(null, { status: 204 }))
    expect((await connection.send(list)).json).toBeUndefined()
  })

  it("refuses a login page as response", async () => {
    const { connection } = connected(() => new Response("<html>", { status: 200 }))
    expect(await failure(connection.send(list))).toMatchObject({ name: "WaybillCallFailed", reason: "unreadable_answer" })
  })

  it("refuses an answer that is not what was asked for", async () => {
    for (const answer of [() => new Response(null), () => json(null), () => json([])]) {
      const { connection } = connected(answer)
      expect(await failure(connection.ask(list))).toMatchObject({ name: "WaybillCallFailed", reason: "unreadable_answer" })
    }
  })

  it.each([301, 302, 303, 307, 308])("does not follow redirects (%i), because the key would go with them", async (status) => {
    const { connection, received } = connected(() => new Response(null, { status, headers: { location: "https://evil.test" } }), { apiKey: "k" })
    expect(await failure(connection.send(list))).toMatchObject({ name: "WaybillCallFailed", reason: "redirected" })
    expect(received).toHaveLength(1)
    expect(received[0]!.init.redirect).toBe("manual")
  })

  describe("with a timeout", () => {
    beforeEach(() => void vi.useFakeTimers())
    afterEach(() => void vi.useRealTimers())

    it("aborts an attempt after timeoutMillis, body included", async () => {
      const slowBody = () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }))
      for (const answer of [never, slowBody]) {
        const fetch = (_: string, init: RequestInit) => {
          const response = Promise.resolve(answer())
          const aborted = new Promise<never>((_, reject) => init.signal!.addEventListener("abort", () => reject(init.signal!.reason)))
          return Promise.race([response, aborted]).then((got) => Object.assign(got, { text: () => Promise.race([Response.prototype.text.call(got), aborted]) }))
        }
        const connection = new Connection({ baseUrl: "https://waybill.test", fetch, timeoutMillis: 1000, retry: false }, "")
        const outcome = failure(connection.send(list))
        await vi.advanceTimersByTimeAsync(999)
        expect(vi.getTimerCount()).toBe(1)
        await vi.advanceTimersByTimeAsync(1)
        expect(await outcome).toMatchObject({ name: "WaybillCallFailed", reason: "timeout" })
      }
    })

    it("leaves no timer behind", async () => {
      const { connection } = connected((_, count) => count === 0 ? problem(503) : json({}))
      const done = connection.send(list)
      await vi.advanceTimersByTimeAsync(10_000)
      await done
      expect(vi.getTimerCount()).toBe(0)
    })

    it("treats a very long timeoutMillis as long, not as zero", async () => {
      const { connection } = connected(never, { timeoutMillis: Infinity, retry: false })
      let settled = false
      void failure(connection.send(list)).then(() => (settled = true))
      await vi.advanceTimersByTimeAsync(86_400_000)
      expect(settled).toBe(false)
      for (const timeoutMillis of [0, -1, NaN]) expect(() => connected(never, { timeoutMillis })).toThrow(TypeError)
    })

    it("rejects with the caller's reason, while sending and while waiting", async () => {
      for (const answer of [never, () => problem(503, {}, { "retry-after": "5" })]) {
        const { connection, received } = connected(answer)
        const controller = new AbortController()
        const outcome = failure(connection.send(list, { signal: controller.signal }))
        await vi.advanceTimersByTimeAsync(100)
        controller.abort(new Error("shutting down"))
        expect(await outcome).toEqual(new Error("shutting down"))
        expect([received.length, vi.getTimerCount()]).toEqual([1, 0])
      }
    })

    it("sends nothing when the signal was aborted before", async () => {
      const { connection, received } = connected(() => json({}))
      expect(await failure(connection.send(list, { signal: AbortSignal.abort(new Error("over")) }))).toEqual(new Error("over"))
      expect(received).toEqual([])
    })

    it("sends nothing when the signal is aborted while the credential is made", async () => {
      const controller = new AbortController()
      const apiKey = async () => {
        controller.abort(new Error("over"))
        return "k"
      }
      const { connection, received } = connected(() => json({}), { apiKey })
      expect(await failure(connection.send(create, { signal: controller.signal }))).toEqual(new Error("over"))
      expect(received).toEqual([])
    })

    it("waits no longer for a credential than for an answer, and stops when the caller does", async () => {
      const { connection, received } = connected(() => json({}), { bearer: () => new Promise<string>(() => {}), timeoutMillis: 1000, retry: false })
      const late = failure(connection.send(list))
      await vi.advanceTimersByTimeAsync(1000)
      expect(await late).toMatchObject({ name: "WaybillCallFailed", reason: "timeout", message: expect.stringContaining("no credential within 1000 ms") })
      const controller = new AbortController()
      const stopped = failure(connection.send(list, { signal: controller.signal }))
      controller.abort(new Error("shutting down"))
      expect(await stopped).toEqual(new Error("shutting down"))
      expect([received.length, vi.getTimerCount()]).toEqual([0, 0])
    })

    it("waits as long as Retry-After says, in seconds or as a date", async () => {
      for (const retryAfter of [() => "3", () => new Date(Date.now() + 3_000).toUTCString()]) {
        vi.setSystemTime(new Date("2026-11-20T08:00:00Z"))
        const { connection, received } = connected((_, count) => count === 0 ? problem(429, {}, { "retry-after": retryAfter() }) : json({}), { retry: { firstPauseMillis: 0 } })
        const done = connection.send(list)
        await vi.advanceTimersByTimeAsync(2_000)
        expect(received).toHaveLength(1)
        await vi.advanceTimersByTimeAsync(2_000)
        await done
        expect(received).toHaveLength(2)
      }
    })

    it("gives up when Retry-After is longer than the longest pause, and reports it", async () => {
      const { connection, received } = connected(() => problem(503, {}, { "retry-after": "3600" }))
      expect(await failure(connection.send(list))).toMatchObject({ status: 503, retryAfterSeconds: 3600 })
      expect(received).toHaveLength(1)
    })
  })

  describe("retries", () => {
    const lost = () => Promise.reject(new TypeError("fetch failed"))
    const quick = { retry: { firstPauseMillis: 1 } }

    it.each([["a lost connection", lost], ["429", () => problem(429)], ["502 of a gateway", () => problem(502)], ["503", () => problem(503)], ["504 of a gateway", () => problem(504)]])("idempotent calls after %s", async (_, answer) => {
      const { connection, received } = connected((_, count) => count < 2 ? answer() : json({ ok: true }), quick)
      expect((await connection.send(list)).json).toEqual({ ok: true })
      expect(received).toHaveLength(3)
    })

    it("twice by default, or as often as configured", async () => {
      for (const [retry, times] of [[{ firstPauseMillis: 1 }, 3], [{ firstPauseMillis: 1, attempts: 5 }, 5], [false, 1]] as const) {
        const { connection, received } = connected(lost, { retry })
        expect(await failure(connection.send(list))).toMatchObject({ reason: "network", cause: new TypeError("fetch failed") })
        expect(received).toHaveLength(times)
      }
    })

    it.each([["a lost connection", lost], ["429", () => problem(429)], ["502", () => problem(502)], ["503", () => problem(503)], ["504", () => problem(504)]])("no calls that are not idempotent, after %s", async (_, answer) => {
      const { connection, received } = connected(answer, quick)
      expect(await failure(connection.send(create))).toBeInstanceOf(Error)
      expect(received).toHaveLength(1)
    })

    it.each([400, 401, 403, 404, 409, 422, 500])("never after %i", async (status) => {
      const { connection, received } = connected(() => problem(status), quick)
      expect(await failure(connection.send(list))).toMatchObject({ status })
      expect(received).toHaveLength(1)
    })

    it("a DELETE, but keeps its 404 as error where deleted objects can still be found", async () => {
      const remove: Call = { method: "DELETE", path: ["v1", "things", "1"], repeatable: true, findableAfterDelete: true }
      const { connection, received } = connected((_, count) => count === 0 ? lost() : problem(404), quick)
      expect(await failure(connection.send(remove))).toMatchObject({ status: 404 })
      expect(received).toHaveLength(2)
    })

    it("with the same idempotency key, which errors contain", async () => {
      const call: Call = { ...create, headers: { "idempotency-key": "k-1" }, repeatable: true }
      const { connection, received } = connected(lost, quick)
      expect(await failure(connection.send(call))).toMatchObject({ reason: "network", call: { method: "POST", idempotencyKey: "k-1" } })
      expect(received.map(({ headers }) => headers.get("idempotency-key"))).toEqual(["k-1", "k-1", "k-1"])
      expect(await failure(connected(() => problem(400)).connection.send(call))).toMatchObject({ status: 400, call: { idempotencyKey: "k-1" } })
      expect(((await failure(connected(lost, quick).connection.send(list))) as WaybillCallFailed).call).not.toHaveProperty("idempotencyKey")
    })

    it("a DELETE, and treats 404 as success when the first response was lost", async () => {
      const remove: Call = { method: "DELETE", path: ["v1", "things", "1"], repeatable: true }
      const { connection } = connected((_, count) => count === 0 ? lost() : problem(404), quick)
      expect((await connection.send(remove)).status).toBe(204)
      const first = connected(() => problem(404), quick)
      expect(await failure(first.connection.send(remove))).toMatchObject({ status: 404 })
    })

    it("a DELETE, but keeps its 404 as error where every attempt before was refused with 429", async () => {
      const remove: Call = { method: "DELETE", path: ["v1", "things", "1"], repeatable: true }
      const refused = connected((_, count) => problem(count === 0 ? 429 : 404), quick)
      expect(await failure(refused.connection.send(remove))).toMatchObject({ status: 404 })
      expect(refused.received).toHaveLength(2)
      const alsoLost = connected((_, count) => count === 0 ? lost() : problem(count === 1 ? 429 : 404), quick)
      expect((await alsoLost.connection.send(remove)).status).toBe(204)
    })
  })

  it("throws errors that differ by class", async () => {
    expect(await failure(connected(() => problem(400)).connection.send(list))).not.toBeInstanceOf(WaybillCallFailed)
  })
})
