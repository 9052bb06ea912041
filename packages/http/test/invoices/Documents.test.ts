import { documentsSample, fileSample, invoiceSample } from "@waybill/testkit"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { type Answer, operatorKey, runningService } from "../TestService.ts"
import { counted, mebibyte, pdfChunks, uploadBody } from "./UploadBodies.ts"

let numbers = 0

const service = await runningService()
const acme = await service.tenant("acme")
const debtor = await acme.customer("debtor", ["A1"])

const call = (method: string, path: string, key?: string, body?: unknown) =>
  service.send(method, `/invoicing${path}`, { key, headers: { "x-request-id": "same" }, ...(body === undefined ? {} : { body }) })

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")

const nextNumber = () => `N-${++numbers}`

/** A valid upload as JSON. */
const sample = (invoiceNumber: string, documents: ReadonlyArray<readonly [string, ...ReadonlyArray<Uint8Array | string>]> = [["POD", fileSample("PDF", 100)]], more: object = {}) =>
  documentsSample({
    invoiceNumber,
    accounts: ["A1"],
    more: {
      documents: documents.map(([documentType, ...files]) => ({ documentType, files: files.map((file) => typeof file === "string" ? file : base64(file)) })),
      ...more
    }
  })

const upload = (body: unknown, key: string | undefined = acme.carrier) => call("POST", "/documents", key, body)

const uploadStream = (stream: ReadableStream<Uint8Array>, key = acme.carrier) =>
  service.fetch(
    new Request("http://waybill.test/invoicing/documents", {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: stream,
      duplex: "half"
    } as RequestInit)
  )

const refusal = ({ headers, json, status }: Answer) => [status, headers.get("content-type"), json]
const detail = ({ headers }: Answer) => headers.get("x-waybill-detail")

const nothingOf = async (invoiceNumber: string) => expect((await call("GET", `/documents/${invoiceNumber}`, acme.carrier)).status).toBe(404)

describe("uploading documents", () => {
  it("is refused with an account that cannot be one, and stores nothing (SPEC-GAP-B7)", async () => {
    const number = nextNumber()
    for (const [account, name] of [["", "billToAccountNumber"], [{}, "account"]] as const) {
      const answer = await upload({ ...sample(number), [name]: account })
      expect([...refusal(answer), detail(answer)]).toEqual([400, "application/json", ["300"], expect.stringContaining(`${name}: An account is`)])
    }
    await nothingOf(number)
  })

  it("answers 201 with a message, returns the new file ids in a header (SPEC-GAP-B33), and stores every file unchanged", async () => {
    const number = nextNumber()
    const files = { pdf: fileSample("PDF", 5), tif: fileSample("TIF", 70_001), jpeg: fileSample("JPEG", 65_536), png: fileSample("PNG", 8) }
    const body = sample(number, [["POD", files.pdf, files.tif], ["W&I", files.jpeg], ["OTHER", files.png]], { note: { kept: true } })
    const answer = await upload(body)
    expect([answer.status, answer.json]).toEqual([201, { message: `4 files were added to invoice number ${number}.` }])
    const ids = answer.headers.get("x-waybill-file-ids")!.split(",")
    expect(ids.length).toBe(4)

    const found = await call("GET", `/documents/${number}`, debtor)
    const { documents: _, ...record } = body
    expect([found.status, found.headers.get("content-type"), Number(found.headers.get("content-length"))]).toEqual([200, "application/json", found.text.length])
    expect(found.json).toEqual({
      ...record,
      documents: [
        { documentType: "POD", files: [{ id: ids[0], content: base64(files.pdf) }, { id: ids[1], content: base64(files.tif) }] },
        { documentType: "W&I", files: [{ id: ids[2], content: base64(files.jpeg) }] },
        { documentType: "OTHER", files: [{ id: ids[3], content: base64(files.png) }] }
      ]
    })
    const head = await call("HEAD", `/documents/${number}`, debtor)
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([200, "", String(found.text.length)])
  })

  it("reads members in any order and format, including escapes and line breaks in base64", async () => {
    const number = nextNumber()
    const { documents, ...record } = sample(number)
    const [text] = (documents[0] as { files: ReadonlyArray<string> }).files
    const body = `\ufeff {\r\n"documents" : [ { "files":[ "${text!.slice(0, 4)}\\r\\n${text!.slice(4).replaceAll("/", "\\/")}" ], "documentType":"POD" } ],${JSON.stringify(record).slice(1)}`
    expect((await upload(body)).status).toBe(201)
    expect((await call("GET", `/documents/${number}`, debtor)).json.documents[0].files[0].content).toBe(text)
  })

  it("adds files to those of the invoice number", async () => {
    const number = nextNumber()
    await upload(sample(number))
    await upload(sample(number, [["BOL", fileSample("PNG", 20)]]))
    const { json } = await call("GET", `/documents/${number}`, debtor)
    expect(json.documents.map((each: any) => [each.documentType, each.files.length])).toEqual([["POD", 1], ["BOL", 1]])
  })

  it.each([
    ["nothing but the files", { documents: [{ documentType: "POD", files: ["JVBERi0="] }] }, 400, ["300"], "uniqueID"],
    ["no documents", { ...documentsSample(), documents: undefined }, 400, ["300"], "documents"],
    ["no files", documentsSample({ documents: [{ documentType: "POD", files: [] }] }), 400, ["300"], "documents.0.files"],
    ["a type that is not on the list", documentsSample({ more: { documents: [{ documentType: "pod", files: ["JVBERi0="] }] } }), 400, ["300"], "documents.0.documentType: A document type is one of BOL, CAT, COMM, "],
    ["a file that is a number", documentsSample({ more: { documents: [{ documentType: "POD", files: [1] }] } }), 400, ["300"], "documents.0.files.0"],
    ["what is no base64", documentsSample({ documents: [{ documentType: "POD", files: ["JVBERi0=", "JVBER*=="] }] }), 400, ["300"], "documents.0.files.1"],
    ["a data: prefix", documentsSample({ documents: [{ documentType: "POD", files: ["data:application/pdf;base64,JVBERi0="] }] }), 400, ["300"], "documents.0.files.0"],
    ["an empty file", documentsSample({ documents: [{ documentType: "POD", files: [""] }] }), 400, ["300"], /^documents\.0\.files\.0 is not a PDF/],
    ["a file that is none of the four", documentsSample({ documents: [{ documentType: "POD", files: ["UEsDBBQAAAA="] }] }), 400, ["300"], /^documents\.0\.files\.0 is not a PDF/],
    ["base64 of base64", documentsSample({ documents: [{ documentType: "POD", files: [Buffer.from("JVBERi0=").toString("base64")] }] }), 400, ["300"], /^documents\.0\.files\.0 is not a PDF/],
    ["an array", [], 400, ["300"], "POST /invoicing/documents expects a JSON object"],
    ["half of JSON", "{\"documents\":[{\"files\":[\"JVBERi0=\"", 400, ["400"], "JSON"],
    ["garbage", "\u0000\u0001\u0002", 400, ["400"], "JSON"],
    ["a file that breaks off", "{\"documents\":[{\"files\":[\"JVBE", 400, ["400"], "JSON"],
    ["a file with a line break that is none", "{\"documents\":[{\"files\":[\"JVBE\n\"]}]}", 400, ["400"], "JSON"],
    ["endless nesting", `{"documents":${"[".repeat(50_000)}`, 400, ["300"], "levels"],
    ["a record of more than a mebibyte", { ...documentsSample(), note: "x".repeat(mebibyte) }, 413, ["300"], "bytes"],
    ["documents twice", `{"documents":[{"documentType":"POD","files":["JVBERi0="]}],${JSON.stringify(documentsSample({ documents: [{ documentType: "POD", files: ["JVBERi0="] }] })).slice(1)}`, 400, ["300"], "documents"]
  ])("refuses %s with the area's codes, and stores nothing", async (_what, body, status, codes, place) => {
    const number = nextNumber()
    const sent = typeof body === "string" ? body : JSON.stringify(Array.isArray(body) ? body : { ...body, invoiceNumber: number })
    const answer = await upload(sent)
    expect(refusal(answer)).toEqual([status, "application/json", codes])
    expect(detail(answer)).toMatch(place)
    await nothingOf(number)
  })

  it("accepts at most 100 files per call", async () => {
    const number = nextNumber()
    const files = (count: number) => Array.from({ length: count }, (_, n) => fileSample("PDF", 10 + n))
    const answer = await upload(sample(number, [["POD", ...files(101)]]))
    expect([refusal(answer), detail(answer)]).toEqual([[400, "application/json", ["300"]], expect.stringContaining("100")])
    await nothingOf(number)
    expect((await upload(sample(number, [["POD", ...files(100)]]))).status).toBe(201)
  })

  it("requires a JSON body", async () => {
    expect(refusal(await call("POST", "/documents", acme.carrier))).toEqual([400, "application/json", ["300"]])
    expect(refusal(await upload(""))).toEqual([400, "application/json", ["300"]])
    const send = (headers: Readonly<Record<string, string>>) => service.send("POST", "/invoicing/documents", { key: acme.carrier, body: "{}", headers })
    expect(refusal(await send({ "content-type": "multipart/form-data" }))).toEqual([415, "application/json", ["400"]])
    expect(refusal(await send({ "content-encoding": "gzip" }))).toEqual([415, "application/json", ["400"]])
  })

  it("requires a carrier, and its own numbers", async () => {
    const number = nextNumber()
    const bound = await acme.carrierOf("bound", { mc: "1" })
    expect(refusal(await upload(sample(number), bound))).toEqual([403, "application/json", ["600"]])
    expect(refusal(await upload(sample(number), debtor))).toEqual([403, "application/json", ["500"]])
    expect(refusal(await upload(sample(number), operatorKey))).toEqual([403, "application/json", ["500"]])
    expect(refusal(await call("POST", "/documents", undefined, sample(number)))).toEqual([401, "application/json", ["500"]])
    await nothingOf(number)
  })

  it("aborts when the body breaks off or stalls, and stores nothing", async () => {
    const number = nextNumber()
    const text = JSON.stringify(sample(number, [["POD", fileSample("PDF", 300_000)]]))
    const begun = (then: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>) => {
      let sent = false
      return new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (sent) return then(controller)
          sent = true
          controller.enqueue(new TextEncoder().encode(text.slice(0, 200_000)))
        }
      })
    }
    expect(refusal(await uploadStream(begun((controller) => controller.error(new Error("gone")))))).toEqual([400, "application/json", ["400"]])
    await nothingOf(number)
    const hasty = await runningService({ bodyTimeoutMillis: 30 })
    const tenant = await hasty.tenant("acme")
    const slow = (stream: ReadableStream<Uint8Array>) =>
      hasty.fetch(new Request("http://waybill.test/invoicing/documents", { method: "POST", headers: { "x-api-key": tenant.carrier, "content-type": "application/json" }, body: stream, duplex: "half" } as RequestInit))
    expect(refusal(await slow(begun(() => new Promise(() => {}))))).toEqual([408, "application/json", ["400"]])
    const trickle = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        controller.enqueue(new Uint8Array([0x20]))
      }
    })
    expect(refusal(await slow(trickle))).toEqual([408, "application/json", ["400"]])
  })

  it("logs no file content and nothing of the request body", async () => {
    const before = service.log.length
    const secret = base64(Buffer.from("%PDF-secret-content"))
    await upload(sample(nextNumber(), [["POD", secret]]))
    await upload(sample(nextNumber(), [["POD", secret, "JVBER*"]]))
    expect(JSON.stringify(service.log.slice(before))).not.toContain(secret.slice(0, 12))
  })
})

describe("large files", () => {
  const sha256 = (chunks: Iterable<Uint8Array>) => {
    const hash = createHash("sha256")
    for (const chunk of chunks) hash.update(chunk)
    return hash.digest("hex")
  }

  it("are accepted up to 25 MiB each, several per call, and returned unchanged", async () => {
    const number = nextNumber()
    const body = uploadBody([25 * mebibyte, 3 * mebibyte + 1], { invoiceNumber: number, accounts: ["A1"] })
    expect((await uploadStream(body.stream)).status).toBe(201)
    const { json } = await call("GET", `/documents/${number}`, debtor)
    const [large, small] = json.documents[0].files.map((each: any) => Buffer.from(each.content, "base64"))
    expect([large.length, sha256([large])]).toEqual([25 * mebibyte, sha256(pdfChunks(25 * mebibyte))])
    expect(sha256([small])).toBe(sha256(pdfChunks(3 * mebibyte + 1)))
  }, 60_000)

  it("are refused at the first byte above the limit, while they arrive, and the call stores nothing", async () => {
    const number = nextNumber()
    for (const sizes of [[25 * mebibyte + 1], [1000, 200 * mebibyte]]) {
      const body = uploadBody(sizes, { invoiceNumber: number })
      const answer = await uploadStream(body.stream)
      expect([refusal(answer), detail(answer)]).toEqual([[413, "application/json", ["300"]], expect.stringContaining("26214400")])
      expect(body.pulled()).toBeLessThan(25 * mebibyte * 4 / 3 + 200_000)
      await nothingOf(number)
    }
  }, 60_000)

  it("of another format are refused at their first bytes", async () => {
    const number = nextNumber()
    const zip = documentsSample({ invoiceNumber: number, documents: [{ documentType: "POD", files: ["UEsDBBQAAAA" + "A".repeat(20 * mebibyte)] }] })
    const body = counted(JSON.stringify(zip).match(/[^]{1,65536}/g)!)
    expect(refusal(await uploadStream(body.stream))).toEqual([400, "application/json", ["300"]])
    expect(body.pulled()).toBeLessThan(300_000)
  }, 60_000)

  it("are uploaded eight at once, the limit per client", async () => {
    const uploads = Array.from({ length: 8 }, (_, n) => uploadStream(uploadBody([4 * mebibyte + n], { invoiceNumber: `EIGHT-${n}`, accounts: ["A1"] }).stream))
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201))
    const downloads = await Promise.all(Array.from({ length: 8 }, (_, n) => call("GET", `/documents/EIGHT-${n}`, debtor)))
    for (const [n, { json }] of downloads.entries()) {
      expect(sha256([Buffer.from(json.documents[0].files[0].content, "base64")])).toBe(sha256(pdfChunks(4 * mebibyte + n)))
    }
  }, 60_000)
})

describe("listing documents", () => {
  it("applies all filters, shows files of the requested types, and returns an empty list for no match", async () => {
    const bolt = await service.tenant("bolt")
    await upload(sample("L1", [["POD", fileSample("PDF", 10)], ["BOL", fileSample("PDF", 11)]], { DOT: "1", MC: "11" }), bolt.carrier)
    await upload(sample("L2", [["W&I", fileSample("PNG", 10)]], { DOT: "2", MC: "22" }), bolt.carrier)
    const listed = async (query: string) => {
      const answer = await call("GET", `/documents?${query}`, bolt.carrier)
      expect(answer.headers.get("content-length")).toBe(String(answer.text.length))
      return [answer.status, answer.json.map((each: any) => [each.invoiceNumber, ...each.documents.map((document: any) => document.documentType)])]
    }
    expect(await listed("")).toEqual([200, [["L1", "POD", "BOL"], ["L2", "W&I"]]])
    expect(await listed("documentType=BOL&documentType=W%26I")).toEqual([200, [["L1", "BOL"], ["L2", "W&I"]]])
    expect(await listed("documentType[]=BOL&documentType[]=POD")).toEqual([200, [["L1", "POD", "BOL"]]])
    expect(await listed("documentType=POD,W%26I&invoiceNumber=L1")).toEqual([200, [["L1", "POD"]]])
    expect(await listed("DOT=02")).toEqual([200, [["L2", "W&I"]]])
    expect(await listed("MC=11&documentType=W%26I")).toEqual([200, []])
    expect(refusal(await call("GET", "/documents?documentType=pod", bolt.carrier))).toEqual([400, "application/json", ["300"]])
    const page = await call("GET", "/documents?limit=1", bolt.carrier)
    expect(page.json.length).toBe(1)
    const next = /^<http:\/\/waybill\.test(.*)>; rel="next"$/.exec(page.headers.get("link")!)![1]!
    const last = await service.send("GET", next, { key: bolt.carrier })
    expect([last.json.map((each: any) => each.invoiceNumber), last.headers.get("link"), last.headers.get("x-next-cursor")]).toEqual([["L2"], null, null])
  })
})

describe("deleting documents", () => {
  const idsOf = async (number: string) => {
    const { json, status } = await call("GET", `/documents/${number}`, acme.carrier)
    return status === 404 ? [] : json.documents.flatMap((each: any) => each.files.map((file: any) => file.id))
  }

  it("answers 200 with a message for all of them, and 404 afterwards", async () => {
    const number = nextNumber()
    await upload(sample(number, [["POD", fileSample("PDF", 10), fileSample("PDF", 11)]]))
    const answer = await call("DELETE", `/documents/${number}?commentText=why`, acme.carrier)
    expect([answer.status, answer.json]).toEqual([200, { message: `2 files were deleted from invoice number ${number}.` }])
    expect(refusal(await call("DELETE", `/documents/${number}`, acme.carrier))).toEqual([404, "application/json", ["300"]])
    await nothingOf(number)
  })

  it("accepts fileIds in every spelling, and deletes all of them or none", async () => {
    const number = nextNumber()
    await upload(sample(number, [["POD", ...Array.from({ length: 8 }, (_, n) => fileSample("PDF", 10 + n))]]))
    const ids = await idsOf(number)
    const remove = async (query: string) => (await call("DELETE", `/documents/${number}?${query}`, acme.carrier)).status
    expect(await remove(`fileIds=${ids[0]}&fileIds=unknown`)).toBe(404)
    expect(await idsOf(number)).toEqual(ids)
    expect(await remove(`fileIds=${ids[0]}&fileIds=${ids[1]}`)).toBe(200)
    expect(await remove(`fileIds=${ids[2]},${ids[3]}`)).toBe(200)
    expect(await remove(`fileIds[]=${ids[4]}`)).toBe(200)
    expect(await remove(`fileIds%5B0%5D=${ids[5]}`)).toBe(200)
    expect(await idsOf(number)).toEqual(ids.slice(6))
  })

  it("deletes nothing when file ids are empty or the name is misspelled (SPEC-GAP-B34)", async () => {
    const number = nextNumber()
    await upload(sample(number))
    const ids = await idsOf(number)
    for (const [query, status] of [["fileIds=", 404], [`fileId=${ids[0]}`, 400], [`FileIds=${ids[0]}`, 400], [`fileIDs[]=${ids[0]}`, 400], [`ids=${ids[0]}`, 400], [`file=${ids[0]}`, 400], [`commentText=x&ids=${ids[0]}`, 400], ["comments=%ff", 400]] as const) {
      expect((await call("DELETE", `/documents/${number}?${query}`, acme.carrier)).status).toBe(status)
    }
    expect(await idsOf(number)).toEqual(ids)
  })

  it("deletes nothing when file ids or comments are in a body (SPEC-GAP-B34)", async () => {
    const number = nextNumber()
    await upload(sample(number))
    const ids = await idsOf(number)
    await call("POST", "/invoices", acme.carrier, invoiceSample({ uniqueID: number, invoiceNumber: number, accounts: ["A1"] }))
    for (const [path, body] of [[`/documents/${number}`, { fileIds: [ids[0]] }], [`/documents/${number}?fileIds=${ids[0]}`, {}], [`/invoices/${number}`, { commentText: "wrong amount" }]] as const) {
      const answer = await call("DELETE", path, acme.carrier, body)
      expect([...refusal(answer), detail(answer)]).toEqual([400, "application/json", ["300"], "This call has no body. Its options are query parameters."])
    }
    expect(await idsOf(number)).toEqual(ids)
    expect((await call("GET", `/invoices/${number}`, acme.carrier)).status).toBe(200)
  })
})

describe("documents", () => {
  it("are visible to the addressees of the record or of an invoice with the number", async () => {
    const number = nextNumber()
    const five = await acme.customer("five", ["A5"])
    await upload(sample(number))
    expect((await call("GET", `/documents/${number}`, five)).status).toBe(404)
    await call("POST", "/invoices", acme.carrier, invoiceSample({ uniqueID: `OF-${number}`, invoiceNumber: number, accounts: ["A5"] }))
    expect((await call("GET", `/documents/${number}`, five)).status).toBe(200)
  })

  it.each(["%00", "%F0%9F%98%80", "a%2Fb", "x".repeat(300), "..%2F.."])("get 404 for a number such as %s", async (id) => {
    for (const method of ["GET", "DELETE"]) expect(refusal(await call(method, `/documents/${id}`, acme.carrier))).toEqual([404, "application/json", ["300"]])
  })
})
