import { describe, expect, it } from "vitest"
import { type ArrivingFile, DocumentsClient, type DocumentsClientOptions, type SupportingDocuments } from "../../src/invoices/index.ts"
import { pdf, storedDocuments, uploadOf, wireOf } from "../invoice-samples.ts"
import { bytesOf } from "../samples.ts"
import { clientsOf, json, problem } from "../scripted-server.ts"

const clientOf = clientsOf(DocumentsClient)
const message = "3 files were added to invoice number N/1."
const wire = wireOf(storedDocuments)
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => "it did not fail", (error: unknown) => error)
const bytesIn = async (content: ReadableStream<Uint8Array>) => new Uint8Array(await new Response(content as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
const withoutContents = ({ documents, ...rest }: SupportingDocuments) => ({
  ...rest, documents: documents.map(({ documentType, files }) => ({ documentType, files: files.map(({ id }) => ({ id })) }))
})

describe("DocumentsClient", () => {
  describe("uploads", () => {
    const large = pdf(200_001, 4)
    const base64 = Buffer.from(large).toString("base64")

    it.each([true, false])("bytes, blobs and base64 as one JSON body (as a stream: %s)", async (streamUploads) => {
      const { client, received } = clientOf(() => json({ message }, 201, { "x-waybill-file-ids": "f-1, f-2,f-3,f-4" }), { streamUploads })
      const upload = uploadOf([
        { documentType: "POD", files: [large, new Blob([large.subarray(0, 7), large.subarray(7)]), base64] },
        { documentType: "W&I", files: [large.subarray(0, 10)] }
      ])
      expect(await client.upload(upload)).toEqual({ message, fileIds: ["f-1", "f-2", "f-3", "f-4"] })
      expect(received).toEqual([expect.objectContaining({ method: "POST", path: "/invoicing/documents" })])
      expect(received[0]!.body).toEqual({
        ...upload,
        documents: [
          { documentType: "POD", files: [base64, base64, base64] },
          { documentType: "W&I", files: [Buffer.from(large.subarray(0, 10)).toString("base64")] }
        ]
      })
      expect(received[0]!.headers.get("content-type")).toBe("application/json")
    })

    it("as a stream by default here, and as a Blob when configured", async () => {
      const upload = uploadOf([{ documentType: "POD", files: [large] }])
      const bodyOf = async (options: Partial<DocumentsClientOptions>) => {
        const { client, received } = clientOf(() => json({ message }, 201), options)
        expect(await client.upload(upload)).toEqual({ message, fileIds: [] })
        return received[0]!.init.body
      }
      expect(await bodyOf({})).toBeInstanceOf(ReadableStream)
      expect(await bodyOf({ streamUploads: false })).toBeInstanceOf(Blob)
    })

    it("files of every length, and invalid base64 unchanged", async () => {
      for (const file of [new Uint8Array(0), pdf(5), pdf(48 * 1024), pdf(48 * 1024 + 1), pdf(96 * 1024 + 2)]) {
        const { client, received } = clientOf(() => json({ message }, 201))
        await client.upload(uploadOf([{ documentType: "POD", files: [file, new Blob([file])] }]))
        const sent = Buffer.from(file).toString("base64")
        expect(received[0]!.body).toMatchObject({ documents: [{ files: [sent, sent] }] })
      }
      const { client, received } = clientOf(() => json({ message }, 201))
      const odd = "data:\"\\\n" + "😀".repeat(30_000)
      await client.upload(uploadOf([{ documentType: "POD", files: [odd] }]))
      expect(received[0]!.body).toMatchObject({ documents: [{ files: [odd] }] })
    })

    it("a record with members of its own, and one without files", async () => {
      const { client, received } = clientOf(() => json({ message }, 201))
      const upload = { ...uploadOf([{ documentType: "POD", files: [] }]), custom: { a: [1] } }
      await client.upload(upload)
      await client.upload(uploadOf([]))
      expect(received.map(({ body }) => body)).toEqual([upload, uploadOf([])])
    })

    it("no value that is not a file", async () => {
      const { client, received } = clientOf(() => json({ message }, 201))
      for (const file of [5, null, {}, [1], new ArrayBuffer(5), new Int8Array(5)]) {
        const upload = uploadOf([{ documentType: "POD", files: [file as unknown as string] }])
        await expect(client.upload(upload)).rejects.toThrow("documents[0].files[0]")
      }
      expect(received).toEqual([])
    })

    it("once, and never retries", async () => {
      for (const answer of [() => problem(503), () => Promise.reject(new TypeError("fetch failed"))]) {
        const { client, received } = clientOf(answer)
        expect(await failure(client.upload(uploadOf([{ documentType: "POD", files: [large] }])))).toBeInstanceOf(Error)
        expect(received).toHaveLength(1)
      }
    })

    it("and fails with the error of an unreadable file", async () => {
      const gone = { size: 10, arrayBuffer: () => undefined, slice: () => ({ arrayBuffer: () => Promise.reject(new DOMException("gone", "NotReadableError")) }) }
      for (const streamUploads of [true, false]) {
        const { client } = clientOf(() => json({ message }, 201), { streamUploads })
        const upload = uploadOf([{ documentType: "POD", files: [gone as unknown as Blob] }])
        expect(await failure(client.upload(upload))).toMatchObject({ name: "NotReadableError" })
      }
    })
  })

  it("gets the documents of an invoice number with their contents", async () => {
    const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json(wire))
    expect(await client.get("N/1")).toEqual(storedDocuments)
    await client.get("N/1", { carrier: { DOT: "1", MC: "2" } })
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /invoicing/documents/N%2F1", "GET /invoicing/documents/N%2F1", "GET /invoicing/documents/N%2F1?DOT=1&MC=2"
    ])
  })

  it("gets documents in any order of members", async () => {
    const { documents, ...rest } = wire
    const turned = { documents: documents.map(({ documentType, files }) => ({ files: files.map(({ content, id }) => ({ content, id })), documentType })), ...rest }
    const { client } = clientOf(() => json(turned))
    expect(await client.get("N/1")).toEqual(storedDocuments)
  })

  it("retries a download from the start when the response breaks off", async () => {
    const { client, received } = clientOf((_, count) => count > 0 ? json(wire) : broken(JSON.stringify(wire).slice(0, 1500)))
    expect(await client.get("N/1")).toEqual(storedDocuments)
    expect(received).toHaveLength(2)
  })

  describe("passes files on as they arrive", () => {
    const contents = storedDocuments.documents.flatMap(({ files }) => files.map(({ content }) => content))

    it("one by one, and then returns the record", async () => {
      const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json(wire))
      const seen: Array<readonly [ArrivingFile, Uint8Array]> = []
      const record = await client.download("N/1", async (file, content) => void seen.push([file, await bytesIn(content)]))
      const named = { invoiceNumber: "N/1", DOT: "123456", MC: "654321" }
      expect(seen).toEqual([
        [{ ...named, documentType: "POD", id: "f-1" }, contents[0]],
        [{ ...named, documentType: "POD", id: "f-2" }, contents[1]],
        [{ ...named, documentType: "W&I", id: "f-3" }, contents[2]]
      ])
      expect(record).toEqual(withoutContents(storedDocuments))
      expect(received).toHaveLength(2)
    })

    it("and skips content that is unread or partly read", async () => {
      const { client } = clientOf(() => json(wire))
      const seen: Array<string> = []
      const takers = [
        () => undefined,
        (content: ReadableStream) => content.cancel(),
        async (content: ReadableStream) => void await content.getReader().read(),
        (content: ReadableStream) => void content.getReader().read().catch(() => undefined),
        async (content: ReadableStream) => {
          const reader = content.getReader()
          await reader.read()
          await reader.cancel()
        }
      ]
      for (const take of takers) {
        const record = await client.download("N/1", async ({ id }, content) => {
          await take(content)
          seen.push(id)
        })
        expect(record).toEqual(withoutContents(storedDocuments))
      }
      expect(seen).toHaveLength(3 * takers.length)
    })

    it("only until the promise of the function settles", async () => {
      const { client } = clientOf(() => json(wire))
      const kept: Array<ReadableStream> = []
      await client.download("N/1", (_, content) => void kept.push(content))
      for (const content of kept) await expect(content.getReader().read()).rejects.toThrow("promise of its function")
    })

    it("and reads no more than is requested", async () => {
      let pulled = 0
      const text = bytesOf(wireOf({ ...storedDocuments, documents: [{ documentType: "POD", files: [{ id: "f", content: pdf(300_000) }] }] }))
      const answer = () =>
        new Response(new ReadableStream({
          pull: (controller) => {
            const piece = text.subarray(pulled * 1000, ++pulled * 1000)
            if (piece.length === 0) controller.close()
            else controller.enqueue(piece)
          }
        }, { highWaterMark: 0 }))
      const { client } = clientOf(answer)
      await client.download("N/1", async (_, content) => {
        const reader = content.getReader()
        await reader.read()
        const before = pulled
        await new Promise((resolve) => setTimeout(resolve, 20))
        expect(pulled).toBe(before)
        expect(pulled).toBeLessThan(5)
      })
      expect(pulled * 1000).toBeGreaterThan(text.length)
    })

    it("and fails at once with the error of the function", async () => {
      const world = { cancelled: false }
      const answer = () =>
        new Response(new ReadableStream({
          start: (controller) => controller.enqueue(bytesOf(JSON.stringify(wire).slice(0, 1000))),
          cancel: () => void (world.cancelled = true)
        }))
      const { client, received } = clientOf(answer)
      expect(await failure(client.download("N/1", () => Promise.reject(new RangeError("the disk is full"))))).toEqual(new RangeError("the disk is full"))
      expect(received).toHaveLength(1)
      expect(world.cancelled).toBe(true)
    })

    it("and fails without a retry when the response breaks off, for the function and for the caller", async () => {
      const { client, received } = clientOf(() => broken(JSON.stringify(wire).slice(0, 1500)))
      const outcomes: Array<unknown> = []
      const outcome = await failure(client.download("N/1", async (_, content) => {
        outcomes.push(await failure(bytesIn(content)))
      }))
      expect(outcome).toMatchObject({ name: "WaybillCallFailed", reason: "network" })
      expect(outcomes.at(-1)).toBe(outcome)
      expect(received).toHaveLength(1)
    })

    it("and refuses a file whose record is not known yet", async () => {
      const { client } = clientOf(() => json({ ...wire, documents: [{ documentType: "POD", files: [{ content: "YQ==", id: "f-1" }] }] }))
      expect(await failure(client.download("N/1", () => undefined))).toMatchObject({ reason: "unreadable_answer", message: expect.stringContaining("id") })
    })
  })

  describe("lists", () => {
    const other: SupportingDocuments = { ...storedDocuments, invoiceNumber: "N/2" }
    const paged = () => clientOf((_, count) =>
      count === 0 ? json([wire, wireOf(other)], 200, { "x-next-cursor": "c-1" }) : json([wire]))

    it("one page, with contents", async () => {
      const { client, received } = paged()
      const query = { invoiceNumber: "N/1", DOT: "1", MC: "2", documentType: ["POD", "W&I"], limit: 2 } as const
      expect(await client.list(query)).toEqual({ data: [storedDocuments, other], nextCursor: "c-1" })
      expect(await client.list({ cursor: "c-1" })).toEqual({ data: [storedDocuments], nextCursor: undefined })
      expect(received.map(({ path }) => path)).toEqual([
        "/invoicing/documents?invoiceNumber=N%2F1&DOT=1&MC=2&documentType=POD&documentType=W%26I&limit=2", "/invoicing/documents?cursor=c-1"
      ])
    })

    it("every record, one by one", async () => {
      const { client, received } = paged()
      expect(await Array.fromAsync(client.all({ documentType: ["POD"] }))).toEqual([storedDocuments, other, storedDocuments])
      expect(received.map(({ path }) => path)).toEqual(["/invoicing/documents?documentType=POD", "/invoicing/documents?documentType=POD&cursor=c-1"])
    })

    it("every record, and passes each file to a function", async () => {
      const { client } = paged()
      const lengths: Array<number> = []
      const records = client.downloadAll({}, async (_, content) => void lengths.push((await bytesIn(content)).length))
      expect(await Array.fromAsync(records)).toEqual([storedDocuments, other, storedDocuments].map(withoutContents))
      expect(lengths).toEqual([10, 2000, 7, 10, 2000, 7, 10, 2000, 7])
    })

    it("a record before the next ones arrive, and reads no further than requested", async () => {
      const world = { cancelled: false }
      const answer = () =>
        new Response(new ReadableStream({
          start: (controller) => controller.enqueue(bytesOf(`[${JSON.stringify(wire)},`)),
          cancel: () => void (world.cancelled = true)
        }), { headers: { "x-next-cursor": "c-1" } })
      const { client, received } = clientOf(answer)
      for await (const record of client.all()) {
        expect(record).toEqual(storedDocuments)
        break
      }
      expect(world.cancelled).toBe(true)
      expect(received).toHaveLength(1)
    })

    it("nothing, and never the same page in a loop", async () => {
      expect(await Array.fromAsync(clientOf(() => json([])).client.all())).toEqual([])
      const { client } = clientOf(() => json([wire], 200, { "x-next-cursor": "c" }))
      await expect(Array.fromAsync(client.all())).rejects.toMatchObject({ reason: "unreadable_answer" })
      await expect(client.list({ cursor: "c" })).rejects.toMatchObject({ reason: "unreadable_answer" })
    })
  })

  it("removes all files of an invoice number, or those named", async () => {
    const { client, received } = clientOf(() => json({ message }))
    expect(await client.remove("N/1")).toBeUndefined()
    await client.remove("N1", { fileIds: ["f-1", "f&2"], carrier: { MC: "2" }, comment: { id: 1, commentText: "blurred" } })
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /invoicing/documents/N%2F1",
      `DELETE /invoicing/documents/N1?fileIds=f-1&fileIds=f%262&MC=2&comments=${encodeURIComponent("{\"id\":1,\"commentText\":\"blurred\"}")}`
    ])
  })

  it("refuses to remove files by an empty list", async () => {
    const { client, received } = clientOf(() => json({ message }))
    await expect(client.remove("N1", { fileIds: [] })).rejects.toThrow(TypeError)
    expect(received).toEqual([])
  })

  it("retries a lost removal only for named files, because others may have come", async () => {
    for (const [fileIds, times] of [[["f-1"], 2], [undefined, 1]] as const) {
      const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json(["300"], 404))
      const outcome = await failure(client.remove("N1", { fileIds }))
      expect(received).toHaveLength(times)
      expect(outcome).toEqual(fileIds === undefined ? expect.objectContaining({ status: 503 }) : "it did not fail")
    }
  })

  it("fails with the codes and the message of an error, in every call", async () => {
    const { client } = clientOf(() => json(["300"], 413, { "x-waybill-detail": "documents[0].files[0] has more than 26214400 bytes." }))
    const calls = [
      client.upload(uploadOf([])), client.list(), Array.fromAsync(client.all()), Array.fromAsync(client.downloadAll({}, () => undefined)), client.get("N1"),
      client.download("N1", () => undefined), client.remove("N1")
    ]
    for (const call of calls) {
      expect(await failure(call)).toMatchObject({ name: "WaybillProblem", status: 413, codes: ["300"], detail: expect.stringContaining("26214400") })
    }
  })

  it("refuses any other response", async () => {
    const odd: ReadonlyArray<readonly [unknown, ReadonlyArray<(client: DocumentsClient) => Promise<unknown>>]> = [
      [{}, [(client) => client.upload(uploadOf([])), (client) => client.list(), (client) => Array.fromAsync(client.all()), (client) => client.get("N1")]],
      [[wire], [(client) => client.get("N1"), (client) => client.download("N1", () => undefined)]],
      [wire, [(client) => client.list(), (client) => Array.fromAsync(client.downloadAll({}, () => undefined))]],
      [{ documents: [{ files: [{ id: "f-1" }] }] }, [(client) => client.get("N1")]],
      [{ documents: [{ files: [{ id: "f-1", content: null }] }] }, [(client) => client.get("N1")]],
      [{ documents: [{ files: [{ id: "f-1", content: "no_base64" }] }] }, [(client) => client.get("N1")]],
      [{ documents: [{ files: "none" }] }, [(client) => client.get("N1")]],
      [{ documents: [1] }, [(client) => client.get("N1")]]
    ]
    for (const [body, calls] of odd) {
      for (const call of calls) expect(await failure(call(clientOf(() => json(body)).client))).toMatchObject({ name: "WaybillCallFailed", reason: "unreadable_answer" })
    }
    for (const text of ["", "<html>", JSON.stringify(wire).slice(0, -1)]) {
      expect(await failure(clientOf(() => new Response(text)).client.get("N1"))).toMatchObject({ reason: "unreadable_answer" })
    }
  })

  it("aborts every call with the caller's signal", async () => {
    const { client, received } = clientOf(() => json(wire))
    const signal = AbortSignal.abort(new Error("over"))
    const calls = [
      client.upload(uploadOf([]), { signal }), client.list({}, { signal }), Array.fromAsync(client.all({}, { signal })),
      Array.fromAsync(client.downloadAll({}, () => undefined, { signal })), client.get("N1", { signal }), client.download("N1", () => undefined, { signal }),
      client.remove("N1", { signal })
    ]
    for (const call of calls) await expect(call).rejects.toThrow("over")
    expect(received).toEqual([])
  })
})

/** Sends this text, and then the connection breaks. */
const broken = (text: string): Response => {
  let sent = false
  return new Response(new ReadableStream({
    pull: (controller) => {
      if (sent) controller.error(new TypeError("terminated"))
      else controller.enqueue(bytesOf(text))
      sent = true
    }
  }))
}
