/** Memory for uploading and downloading a large document. */
import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as after } from "node:timers/promises"
import type { Line, Verdict } from "../measure/Report.ts"
import type { DocumentHandlers } from "../waybill/document-process.ts"
import { type Scenario, startMeasured } from "./Bench.ts"

const mebibyte = 1024 * 1024

const pieceBytes = 48 * 1024

/** The JSON of an upload of one PDF, in chunks. */
const uploadOf = function*(invoiceNumber: string, size: number): Iterable<string> {
  yield `{"uniqueID":"1","shipmentID":"1","DOT":"1","MC":"1","invoiceNumber":"${invoiceNumber}","invoiceDate":"2026-11-20",` +
    "\"documents\":[{\"documentType\":\"POD\",\"files\":[\""
  const piece = Buffer.alloc(pieceBytes, "%PDF-1.7 ").toString("base64")
  const last = Buffer.alloc(size % pieceBytes, "%PDF-1.7 ").toString("base64")
  for (let n = 0; n < Math.floor(size / pieceBytes); n++) yield piece
  yield `${last}"]}]}`
}

interface Server {
  readonly port: number
  readonly key: string
}

/** Sends as fast as the server reads, so that the sender is not measured. */
const upload = ({ key, port }: Server, invoiceNumber: string, size: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { "x-api-key": key, "content-type": "application/json" }
    const sending = request({ port, host: "127.0.0.1", path: "/invoicing/documents", method: "POST", headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode!))
    })
    sending.on("error", reject)
    const pieces = uploadOf(invoiceNumber, size)[Symbol.iterator]()
    const go = () => {
      for (let next = pieces.next(); !next.done; next = pieces.next()) {
        if (!sending.write(next.value)) return void sending.once("drain", go)
      }
      sending.end()
    }
    go()
  })

const download = ({ key, port }: Server, invoiceNumber: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", path: `/invoicing/documents/${invoiceNumber}`, headers: { "x-api-key": key } }, (response) => {
      let length = 0
      response.on("data", (chunk: Buffer) => void (length += chunk.length)).on("end", () => resolve(length)).on("error", reject)
    }).on("error", reject).end()
  })

const expectOf = (what: string, is: number, wanted: number) => {
  if (is !== wanted) throw new Error(`${what} gave ${is} where ${wanted} was expected.`)
}

export const documents: Scenario = {
  name: "documents",
  title: "memory over idle of a server process during uploads and downloads of 25 MB",
  run: async (bench) => {
    const lines: Array<Line> = []
    const verdicts: Array<Verdict> = []
    const size = 25 * mebibyte
    for (const kept of ["in Postgres", "in a directory"] as const) {
      const directory = mkdtempSync(join(tmpdir(), "waybill-documents-"))
      const database = await bench.postgres.database(kept === "in Postgres" ? "bench_documents" : "bench_documents_outside")
      const module = new URL("../waybill/document-process.ts", import.meta.url)
      const child = await startMeasured<DocumentHandlers>(bench, module, kept === "in Postgres" ? [database] : [database, directory])
      const server = await child.call.listen()
      // warm-up: loading code and filling pools is not a cost of a document
      expectOf("upload", await upload(server, "warm", 3 * mebibyte), 201)
      await download(server, "warm")
      await after(2000)
      const idle = (await child.call.resident()).now
      const measure = async (label: string, target: number, work: () => Promise<unknown>) => {
        await child.call.resident()
        const began = performance.now()
        await work()
        const seconds = (performance.now() - began) / 1000
        const over = ((await child.call.resident()).most - idle) / mebibyte
        lines.push({ label: `${label}, ${kept}`, value: over, unit: "MB", note: `in ${seconds.toFixed(1)} s; idle ${Math.round(idle / mebibyte)} MB` })
        verdicts.push({ label: `${label}, ${kept}`, ratio: over, target, better: "lower" })
        await after(1000)
      }
      await measure("one upload", 100, async () => expectOf("upload", await upload(server, "one", size), 201))
      const wanted = await download(server, "one")
      await measure("one download", 100, async () => expectOf("download", await download(server, "one"), wanted))
      const ten = Array.from({ length: 10 }, (_, n) => `ten-${n}`)
      await measure("ten concurrent uploads", 400, () => Promise.all(ten.map(async (number) => expectOf("upload", await upload(server, number, size), 201))))
      await measure("ten concurrent downloads", 400, () => Promise.all(ten.map((number) => download(server, number))))
      await child.end()
      rmSync(directory, { recursive: true, force: true })
    }
    return { lines, verdicts }
  }
}
