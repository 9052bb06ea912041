/** Bodies that are sent and received in chunks. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type Call, Connection, type OpenAnswer } from "../../src/connection/Connection.ts"
import type { ConnectionOptions } from "../../src/connection/index.ts"
import { canStreamRequests } from "../../src/connection/SentPieces.ts"
import { bytesOf } from "../samples.ts"
import { json, problem } from "../scripted-server.ts"

const list: Call = { method: "GET", path: ["things"], repeatable: true }
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => "it did not fail", (error: unknown) => error)
const connection = (fetch: ConnectionOptions["fetch"], options: Partial<ConnectionOptions> = {}) =>
  new Connection({ baseUrl: "https://waybill.test", fetch, retry: { firstPauseMillis: 1 }, ...options }, "")

/** A response whose chunks are produced on demand, and that ends when the call is aborted, as with fetch. */
const arriving = (init: RequestInit) => {
  const world = { cancelled: false }
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given), cancel: () => void (world.cancelled = true) })
  init.signal!.addEventListener("abort", () => controller.error(init.signal!.reason))
  return {
    world,
    response: new Response(body),
    send: (text: string) => controller.enqueue(bytesOf(text)),
    end: () => controller.close(),
    breakOff: () => controller.error(new TypeError("terminated"))
  }
}
const textOf = async ({ pieces }: OpenAnswer) => {
  let text = ""
  for await (const piece of pieces) text += new TextDecoder().decode(piece)
  return text
}

describe("A streamed response", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const opened = async ({ signal, ...options }: Partial<ConnectionOptions> & { readonly signal?: AbortSignal } = {}) => {
    let server!: ReturnType<typeof arriving>
    const calling = connection((_, init) => Promise.resolve((server = arriving(init)).response), { timeoutMillis: 1000, ...options })
    const answer = await calling.open(list, signal === undefined ? {} : { signal })
    return { answer, server, pieces: answer.pieces[Symbol.asyncIterator]() }
  }

  it("yields its chunks, however long the whole takes and however slow its reader is", async () => {
    const { answer, pieces, server } = await opened()
    for (const text of ["a", "b", "c"]) {
      const next = pieces.next()
      await vi.advanceTimersByTimeAsync(900)
      server.send(text)
      expect(await next).toEqual({ done: false, value: bytesOf(text) })
      expect(vi.getTimerCount()).toBe(0)
      await vi.advanceTimersByTimeAsync(60_000)
    }
    server.end()
    expect((await pieces.next()).done).toBe(true)
    answer.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it("fails when a chunk is late", async () => {
    const { answer, pieces } = await opened()
    const next = failure(Promise.resolve(pieces.next()))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await next).toMatchObject({ name: "WaybillCallFailed", reason: "timeout" })
    answer.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it("fails when it breaks off, and with the caller's reason when aborted", async () => {
    const broken = await opened()
    broken.server.breakOff()
    expect(await failure(Promise.resolve(broken.pieces.next()))).toMatchObject({ reason: "network", cause: new TypeError("terminated") })
    broken.answer.close()
    const controller = new AbortController()
    const ended = await opened({ signal: controller.signal })
    const next = failure(Promise.resolve(ended.pieces.next()))
    controller.abort(new Error("shutting down"))
    expect(await next).toEqual(new Error("shutting down"))
    ended.answer.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it("is cancelled when it is closed early, read or not", async () => {
    const unread = await opened()
    unread.answer.close()
    const begun = await opened()
    begun.server.send("a")
    await begun.pieces.next()
    begun.answer.close()
    expect([unread.server.world.cancelled, begun.server.world.cancelled]).toEqual([true, true])
  })

  it("may have no body", async () => {
    const answer = await connection(async () => new Response(null, { status: 204 })).open(list)
    expect([answer.status, await textOf(answer)]).toEqual([204, ""])
    answer.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe("A streamed response with a failure", () => {
  it("fails the call on an error status or redirect, and retries idempotent calls", async () => {
    for (const call of ["open", "receive"] as const) {
      const ask = (calling: Connection) => call === "open" ? calling.open(list) : calling.receive(list, textOf)
      expect(await failure(ask(connection(async () => problem(404))))).toMatchObject({ name: "WaybillProblem", status: 404 })
      expect(await failure(ask(connection(async () => new Response(null, { status: 302 }))))).toMatchObject({ reason: "redirected" })
      let count = 0
      await ask(connection(async () => count++ < 2 ? problem(503) : json({})))
      expect(count).toBe(3)
    }
  })

  it("is retried after its head only with receive", async () => {
    let count = 0
    const breaking = connection(async (_, init) => {
      const server = arriving(init)
      server.send("half")
      // Breaking off at once would discard the queued chunks.
      setTimeout(count++ === 0 ? server.breakOff : server.end, 5)
      return server.response
    })
    expect(await breaking.receive(list, textOf)).toBe("half")
    expect(count).toBe(2)
    count = 0
    const answer = await breaking.open(list)
    expect(await failure(textOf(answer))).toMatchObject({ reason: "network" })
    answer.close()
    expect(count).toBe(1)
  })

  it("keeps errors of the reader itself", async () => {
    let count = 0
    const calling = connection(async () => {
      count++
      return json({})
    })
    expect(await failure(calling.receive(list, () => Promise.reject(new RangeError("mine"))))).toEqual(new RangeError("mine"))
    expect(count).toBe(1)
  })
})

describe("A streamed request body", () => {
  const upload = (make: () => AsyncGenerator<Uint8Array<ArrayBuffer>>, streamed: boolean): Call =>
    ({ method: "POST", path: ["things"], pieces: { make, streamed }, repeatable: false })
  const two = async function*() {
    yield bytesOf("{\"a\":")
    yield bytesOf("1}")
  }

  it("is sent as a stream, one chunk per read", async () => {
    const seen: Array<unknown> = []
    const calling = connection(async (_, init) => {
      expect(init).toMatchObject({ method: "POST", duplex: "half", body: expect.any(ReadableStream) })
      expect(new Headers(init.headers).get("content-type")).toBe("application/json")
      const reader = (init.body as ReadableStream<Uint8Array>).getReader()
      for (let next = await reader.read(); !next.done; next = await reader.read()) seen.push(new TextDecoder().decode(next.value), "taken")
      return json({ ok: true })
    })
    const make = async function*() {
      for await (const piece of two()) {
        seen.push("made")
        yield piece
      }
    }
    expect((await calling.send(upload(make, true))).json).toEqual({ ok: true })
    expect(seen).toEqual(["made", "{\"a\":", "taken", "made", "1}", "taken"])
  })

  it("is sent as a Blob when streaming is off", async () => {
    const calling = connection(async (_, init) => {
      expect(init.body).toBeInstanceOf(Blob)
      expect(init).not.toHaveProperty("duplex")
      return json({ sent: await (init.body as Blob).text(), type: new Headers(init.headers).get("content-type") })
    })
    expect((await calling.send(upload(two, false))).json).toEqual({ sent: "{\"a\":1}", type: "application/json" })
  })

  it("fails with the error of its generator, and is not retried", async () => {
    const make = async function*() {
      yield bytesOf("{")
      throw new RangeError("the file is gone")
    }
    for (const streamed of [true, false]) {
      let count = 0
      const calling = connection(async (_, init) => {
        count++
        try {
          await new Response(init.body!).text()
        } catch (cause) {
          throw new TypeError("fetch failed", { cause })
        }
        return json({})
      })
      expect(await failure(calling.send({ ...upload(make, streamed), repeatable: true }))).toEqual(new RangeError("the file is gone"))
      expect(count).toBe(streamed ? 1 : 0)
    }
  })

  it("is stopped when the server does not want the rest", async () => {
    let stopped = false
    const make = async function*() {
      try {
        while (true) yield bytesOf("x")
      } finally {
        stopped = true
      }
    }
    const calling = connection(async (_, init) => {
      const reader = (init.body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      await reader.cancel()
      return problem(413)
    })
    expect(await failure(calling.send(upload(make, true)))).toMatchObject({ status: 413 })
    expect(stopped).toBe(true)
  })

  describe("with a timeout", () => {
    beforeEach(() => void vi.useFakeTimers())
    afterEach(() => void vi.useRealTimers())

    it("lasts as long as chunks are read, then fails", async () => {
      let taken = 0
      const endless = async function*() {
        while (true) yield bytesOf("x")
      }
      const calling = connection(async (_, init) => {
        const reader = (init.body as ReadableStream<Uint8Array>).getReader()
        for (; taken < 5; taken++) {
          await reader.read()
          await new Promise((resolve) => setTimeout(resolve, 900))
        }
        return new Promise((_, reject) => init.signal!.addEventListener("abort", () => reject(init.signal!.reason)))
      }, { timeoutMillis: 1000 })
      const outcome = failure(calling.send(upload(endless, true)))
      await vi.advanceTimersByTimeAsync(4_500)
      expect(taken).toBe(5)
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await outcome).toMatchObject({ reason: "timeout" })
      expect(vi.getTimerCount()).toBe(0)
    })

    it("gets more time in proportion to its size when sent as a Blob", async () => {
      const heavy = async function*() {
        yield new Uint8Array(160 * 1024)
      }
      const calling = connection((_, init) => new Promise((_, reject) => init.signal!.addEventListener("abort", () => reject(init.signal!.reason))), { timeoutMillis: 1000 })
      let settled = false
      const outcome = failure(calling.send(upload(heavy, false))).finally(() => (settled = true))
      await vi.advanceTimersByTimeAsync(10_900)
      expect(settled).toBe(false)
      await vi.advanceTimersByTimeAsync(200)
      expect(await outcome).toMatchObject({ reason: "timeout" })
    })

    it("leaves no timer behind when the rest is read after the response", async () => {
      let rest!: ReadableStreamDefaultReader<Uint8Array>
      const calling = connection(async (_, init) => {
        rest = (init.body as ReadableStream<Uint8Array>).getReader()
        return json({})
      })
      await calling.send(upload(two, true))
      await rest.read()
      expect(vi.getTimerCount()).toBe(0)
    })
  })
})

describe("canStreamRequests", () => {
  afterEach(() => void vi.unstubAllGlobals())

  it.each([
    ["Node.js/24", true],
    ["Deno/2.5", true],
    ["Bun/1.3", true],
    ["Cloudflare-Workers", true],
    ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", false],
    [undefined, true]
  ])("for %s is %s", (userAgent, can) => {
    vi.stubGlobal("navigator", userAgent === undefined ? undefined : { userAgent })
    expect(canStreamRequests()).toBe(can)
  })

  it("is false without ReadableStream", () => {
    vi.stubGlobal("ReadableStream", undefined)
    expect(canStreamRequests()).toBe(false)
  })
})
