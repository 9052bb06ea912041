/** Uploads and downloads over real sockets: slow, interrupted, and refused half way. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, StorageError, Tenants } from "@waybill/core"
import { DocumentContents, InvoiceDocuments } from "@waybill/core/invoices"
import { Context, Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { HttpServer } from "effect/http"
import { Agent, createServer, type IncomingMessage, request as send } from "node:http"
import { describe, expect, it } from "vitest"
import { createStartupBufferServer, toNodeHandler, WaybillHttp } from "../../src/index.ts"
import { endAfterwards } from "../endAfterwards.ts"
import { carrier, start as startHost } from "../facade/Host.ts"
import { listening } from "../listening.ts"
import { layerOfService, type TestServiceOptions } from "../TestService.ts"
import { mebibyte, uploadBody } from "./UploadBodies.ts"

const log: Array<string> = []

const start = async (options: TestServiceOptions = {}) => {
  const scope = Scope.makeUnsafe()
  const layer = WaybillHttp.serve(options).pipe(
    Layer.provideMerge(NodeHttpServer.layerServer(createStartupBufferServer, { port: 0, host: "127.0.0.1" })),
    Layer.provideMerge(layerOfService(options)),
    Layer.provideMerge(Logger.layer([Logger.map(Logger.formatStructured, ({ annotations, message }) => void log.push(`${String(message)} ${JSON.stringify(annotations)}`))]))
  )
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const key = await Effect.runPromiseWith(context)(Effect.gen(function*() {
    yield* (yield* Tenants).put("acme", { name: "Acme" })
    return Redacted.value((yield* (yield* ApiKeys).create("acme", { name: "carrier", roles: ["carrier"] })).key)
  }))
  const { port } = Context.get(context, HttpServer.HttpServer).address as unknown as { readonly port: number }
  endAfterwards(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return { key, url: `http://127.0.0.1:${port}/invoicing/documents` }
}

const server = await start()

const upload = (to: { readonly url: string; readonly key: string }, body: ReadableStream<Uint8Array>) =>
  fetch(to.url, { method: "POST", headers: { "x-api-key": to.key, "content-type": "application/json" }, body, duplex: "half" } as RequestInit)

const download = (from: { readonly url: string; readonly key: string }, number: string) => fetch(`${from.url}/${number}`, { headers: { "x-api-key": from.key } })

const sizeOf = async (response: Response): Promise<number> => {
  const { documents: [document] } = await response.json() as { readonly documents: ReadonlyArray<{ readonly files: ReadonlyArray<{ readonly content: string }> }> }
  return Buffer.from(document!.files[0]!.content, "base64").length
}

describe("a document over a socket", () => {
  it("is uploaded and downloaded, through the server and through a host's own", async () => {
    const host = startHost({ authenticate: async () => carrier })
    await host.tenants.put("acme", { name: "Acme" })
    const mounted = { key: "", url: `${await listening(createServer(toNodeHandler(host)))}/invoicing/documents` }
    for (const each of [server, mounted]) {
      expect((await upload(each, uploadBody([5 * mebibyte], { invoiceNumber: "THERE" }).stream)).status).toBe(201)
      const response = await download(each, "THERE")
      expect(Number(response.headers.get("content-length"))).toBeGreaterThan(5 * mebibyte * 4 / 3)
      expect(await sizeOf(response)).toBe(5 * mebibyte)
    }
  }, 60_000)

  it("that is too large gets its response while it is still being sent", async () => {
    const body = uploadBody([60 * mebibyte], { invoiceNumber: "LARGE" })
    const response = await upload(server, body.stream)
    expect([response.status, await response.json(), response.headers.get("x-waybill-detail")]).toEqual([413, ["300"], expect.stringContaining("26214400")])
    expect(body.pulled()).toBeLessThan(60 * mebibyte)
    expect((await download(server, "LARGE")).status).toBe(404)
  }, 60_000)

  it("whose sender disconnects leaves no data and no error log", async () => {
    const before = log.length
    await new Promise<void>((resolve) => {
      const request = send(server.url, { method: "POST", headers: { "x-api-key": server.key, "content-type": "application/json", "content-length": 1_000_000 } })
      request.on("error", () => {})
      request.on("close", resolve)
      request.write(`{"documents":[{"files":["JVBERi0A${"A".repeat(200_000)}`, () => setTimeout(() => request.destroy(), 50))
    })
    while (!log.slice(before).some((line) => line.includes("499"))) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(log.slice(before).filter((line) => /defect|Response aborted/.test(line))).toEqual([])
    expect(await (await fetch(server.url, { headers: { "x-api-key": server.key } })).text()).not.toContain("LARGE")
  })

  it("is read no further when its receiver disconnects", async () => {
    await upload(server, uploadBody([20 * mebibyte], { invoiceNumber: "GIVEN-UP" }).stream)
    const aborted = new AbortController()
    const response = await fetch(`${server.url}/GIVEN-UP`, { headers: { "x-api-key": server.key }, signal: aborted.signal })
    const reader = response.body!.getReader()
    await reader.read()
    aborted.abort()
    await expect(reader.read()).rejects.toThrow()
    expect(await sizeOf(await download(server, "GIVEN-UP"))).toBe(20 * mebibyte)
  }, 60_000)

  it("that storage loses half way ends the connection early, and the log says why", async () => {
    const losing = Layer.effect(
      DocumentContents,
      Effect.map(DocumentContents, (contents) =>
        DocumentContents.of({
          ...contents,
          read: (tenantId, contentId, chunk) =>
            chunk < 3 ? contents.read(tenantId, contentId, chunk) : Effect.fail(new StorageError({ operation: "DocumentContents.read", cause: new Error("disk") }))
        }))
    )
    const faulty = await start({ over: Layer.fresh(InvoiceDocuments.layer).pipe(Layer.provide(losing)) })
    expect((await upload(faulty, uploadBody([mebibyte], { invoiceNumber: "LOST" }).stream)).status).toBe(201)
    const before = log.length
    const outcome = await new Promise<string>((resolve) => {
      send(`${faulty.url}/LOST`, { headers: { "x-api-key": faulty.key, "x-request-id": "lost" } }, (response: IncomingMessage) => {
        let length = 0
        response.on("data", (chunk: Buffer) => void (length += chunk.length))
        response.on("error", (error) => resolve(`${response.statusCode} ${error.message} ${length < Number(response.headers["content-length"])}`))
        response.on("end", () => resolve("whole"))
      }).end()
    })
    expect(outcome).toBe("200 aborted true")
    expect(log.slice(before).filter((line) => line.startsWith("Response aborted, its body failed."))).toEqual([expect.stringContaining("\"correlationId\":\"lost\"")])
  }, 60_000)
})

describe("a delete", () => {
  it("with a body is refused on a connection that goes on; chunks without bytes are no body (SPEC-GAP-B34)", async () => {
    const host = startHost({ authenticate: async () => carrier })
    await host.tenants.put("acme", { name: "Acme" })
    const mounted = { key: "", url: `${await listening(createServer(toNodeHandler(host)))}/invoicing/documents` }
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (const { key, url } of [server, mounted]) {
      await upload({ key, url }, uploadBody([100], { invoiceNumber: "KEPT" }).stream)
      const remove = (chunks: ReadonlyArray<string>) =>
        new Promise<number | undefined>((resolve, reject) => {
          const request = send(`${url}/KEPT`, { method: "DELETE", agent, headers: { "x-api-key": key, "transfer-encoding": "chunked" } }, (response) => {
            response.resume().on("end", () => resolve(response.statusCode))
          }).on("error", reject)
          for (const chunk of chunks) request.write(chunk)
          request.end()
        })
      expect(await remove(["{\"fileIds\":", "[\"x\"]}"])).toBe(400)
      expect((await download({ key, url }, "KEPT")).status).toBe(200)
      expect(await remove([])).toBe(200)
    }
    agent.destroy()
  })
})
