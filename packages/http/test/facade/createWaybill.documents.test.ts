import { makeStorage } from "@waybill/core"
import type { PickupDeskCall, PickupOrder } from "@waybill/core/pickups"
import { documentsSample, fileSample, invoiceSample, type InvoiceOverrides, pickupRequest, startTestWaybill, StorageMemory, type TestClient } from "@waybill/testkit"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { createWaybill, documentsInDirectory, type DocumentsUpload, type PickupInput, type Waybill } from "../../src/index.ts"
import { documentsInS3 } from "../../src/s3.ts"
import { S3Double } from "../invoices/S3Double.ts"
import { HostTransaction, carrier, customer, rejection, sealingKey, startWithTenant } from "./Host.ts"

const directory = mkdtempSync(join(tmpdir(), "waybill-facade-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const stranger = { ...customer, client: "stranger", accounts: ["A9"] }

const invoice = (overrides: InvoiceOverrides = {}) => invoiceSample({ accounts: ["A1"], ...overrides }) as Parameters<Waybill["invoices"]["create"]>[1]

const documents = (...files: ReadonlyArray<Uint8Array | string>) =>
  documentsSample({ accounts: ["A1"], documents: [{ documentType: "POD", files }] }) as unknown as DocumentsUpload

const pickup = (overrides: Parameters<typeof pickupRequest>[0] = {}) => pickupRequest({ day: "2099-11-20", ...overrides }) as unknown as PickupInput

const filesIn = (folder: string) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())

describe("invoices", () => {
  it("are created, listed, found, replaced and deleted with promises, and have a history", async () => {
    const waybill = await startWithTenant()
    expect(await waybill.invoices.create(carrier, invoice())).toEqual({ message: "Invoice INV-1 was created.", warnings: [] })
    expect((await waybill.invoices.create(carrier, invoice({ uniqueID: "INV-2", total: "1" }))).warnings.length).toBe(1)
    expect((await waybill.invoices.list(customer, { invoiceNumber: "4711", limit: 1 })).nextCursor).toEqual(expect.any(String))
    expect((await waybill.invoices.list(customer)).data.map(({ uniqueID }) => uniqueID)).toEqual(["INV-1", "INV-2"])
    expect((await waybill.invoices.list(stranger)).data).toEqual([])
    expect(await waybill.invoices.get(customer, "INV-1")).toEqual({ invoice: invoice(), warnings: [] })
    await waybill.invoices.replace(carrier, "INV-1", { ...invoice(), shipmentID: "new" }, { commentText: "moved" })
    await waybill.invoices.remove(carrier, "INV-1", { DOT: "1234567", comments: [{ commentText: "wrong" }] })
    const history = await waybill.invoices.history(carrier, "INV-1", { DOT: "1234567", MC: "765432" })
    expect(history.map(({ action, client, comments }) => [action, client, comments])).toEqual([
      ["created", "key:tms", []],
      ["replaced", "key:tms", [{ commentText: "moved" }]],
      ["deleted", "key:tms", [{ commentText: "wrong" }]]
    ])
  })

  it("reject with the error and its HTTP status", async () => {
    const waybill = await startWithTenant()
    await waybill.invoices.create(carrier, invoice())
    expect(await rejection(waybill.invoices.create(carrier, { ...invoice(), shipmentID: "x" }))).toMatchObject({ code: "invoice_exists", status: 400 })
    expect(await rejection(waybill.invoices.create({ ...carrier, dot: "1" }, invoice()))).toMatchObject({ code: "invoice_not_yours", status: 403 })
    expect(await rejection(waybill.invoices.get(stranger, "INV-1"))).toMatchObject({ code: "invoice_not_found", status: 404 })
    expect(await rejection(waybill.invoices.create(customer, invoice()))).toMatchObject({ code: "not_permitted", status: 403 })
    const bad = await rejection(waybill.invoices.create(carrier, { ...invoice(), shipmentID: 1 as never }))
    expect([bad.code, bad.faults[0]?.pointer]).toEqual(["invalid_input", "/shipmentID"])
  })
})

describe("documents", () => {
  const roundTrip = async (waybill: Waybill) => {
    const [bytes, text] = [fileSample("PDF", 600_000), fileSample("PNG", 1000)]
    const { fileIds, message } = await waybill.documents.upload(carrier, documents(bytes, Buffer.from(text).toString("base64")))
    expect([fileIds.length, message]).toEqual([2, "2 files were added to invoice number 4711."])
    const found = await waybill.documents.get(customer, "4711")
    expect(found.record).toMatchObject({ invoiceNumber: "4711", documentSource: "scanner" })
    const files = found.documents[0]!.files
    expect(files.map(({ id, mediaType, size }) => [id, mediaType, size])).toEqual([[fileIds[0], "application/pdf", 600_000], [fileIds[1], "image/png", 1000]])
    for (const [at, expected] of [bytes, text].entries()) {
      expect(Buffer.compare(Buffer.from(await new Response(files[at]!.content()).arrayBuffer()), expected)).toBe(0)
    }
    return files
  }

  it("are uploaded as bytes or base64, read as streams, listed and deleted, and have a history", async () => {
    const waybill = await startWithTenant()
    const files = await roundTrip(waybill)
    expect((await waybill.documents.list(customer, { documentType: ["POD"] })).data.length).toBe(1)
    expect((await waybill.documents.list(stranger)).data).toEqual([])
    await waybill.documents.remove(carrier, "4711", { fileIds: [files[0]!.id], comments: { commentText: "twice" } })
    await waybill.documents.remove(carrier, "4711")
    expect(await rejection(waybill.documents.get(customer, "4711"))).toMatchObject({ code: "document_not_found", status: 404 })
    const history = await waybill.documents.history(carrier, "4711", { DOT: "1234567", MC: "765432" })
    expect(history.map(({ action }) => action)).toEqual(["documents added", "documents deleted", "documents deleted"])
  })

  it("reject files that are too large or not a document, with their location", async () => {
    const waybill = await startWithTenant()
    const large = await rejection(waybill.documents.upload(carrier, documents(fileSample("PDF", 1), new Uint8Array(25 * 1024 * 1024 + 1).fill(0))))
    expect([large.code, large.status]).toEqual(["file_format_unknown", 400])
    const tooLarge = await rejection(waybill.documents.upload(carrier, documents(fileSample("PDF", 25 * 1024 * 1024 + 1))))
    expect([tooLarge.code, tooLarge.status, tooLarge.faults[0]?.pointer]).toEqual(["file_too_large", 413, "/documents/0/files/0"])
    expect(await rejection(waybill.documents.get(carrier, "4711"))).toMatchObject({ status: 404 })
  })

  it("are kept in a directory if configured, and deleted from there", async () => {
    const folder = join(directory, "kept")
    const waybill = await startWithTenant({ documents: documentsInDirectory(folder) })
    const files = await roundTrip(waybill)
    expect(filesIn(folder).length).toBe(2)
    await waybill.documents.remove(carrier, "4711", { fileIds: [files[0]!.id] })
    expect(filesIn(folder).length).toBe(1)
    await rejection(waybill.documents.upload(carrier, documents(fileSample("PDF", 100), "!")))
    expect(filesIn(folder).length).toBe(1)
  })

  it("are kept in S3 if a bucket is configured", async () => {
    const bucket = new S3Double()
    const waybill = await startWithTenant({ documents: documentsInS3({ client: bucket, bucket: "documents" }) })
    await roundTrip(waybill)
    expect([bucket.objects.size, bucket.uploads.size]).toEqual([2, 0])
    await waybill.documents.remove(carrier, "4711")
    expect(bucket.objects.size).toBe(0)
  })

  it("keep their contents when they are deleted in a transaction of the host, which may roll back", async () => {
    const folder = join(directory, "within")
    const waybill = await startWithTenant({ documents: documentsInDirectory(folder) })
    const { documents: within } = waybill.within(new HostTransaction())
    await within.upload(carrier, documents(fileSample("PDF", 100)))
    expect(filesIn(folder).length).toBe(1)
    await within.remove(carrier, "4711")
    expect([await rejection(waybill.documents.get(carrier, "4711")), filesIn(folder).length]).toEqual([expect.objectContaining({ status: 404 }), 1])
  })

  it("refuse an invalid option", () => {
    expect(() => createWaybill({ storage: makeStorage({ layer: StorageMemory.layer, joined: () => (effect) => effect }), sealingKeys: [sealingKey], documents: {} as never }))
      .toThrow("documentsInDirectory")
  })

  it.each<readonly [string, () => unknown, string]>([
    ["a directory without a name, which would be the working directory", () => documentsInDirectory(""), "documentsInDirectory takes the path of a directory."],
    ["a directory in an object", () => documentsInDirectory({ directory } as never), "documentsInDirectory takes the path of a directory."],
    ["a misspelt prefix", () => documentsInS3({ client: new S3Double(), bucket: "documents", prefx: "w/" } as never), "documentsInS3 has no option prefx. Did you mean prefix?"],
    ["an S3Client", () => documentsInS3({ client: { send: async () => ({}) } as never, bucket: "documents" }), "client of documentsInS3 is a client with the methods of S3"],
    ["no bucket", () => documentsInS3({ client: new S3Double() } as never), "documentsInS3 needs a client and a bucket."]
  ])("refuse %s at once", (_, open, message) => expect(open).toThrow(message))

  it("are sent completely before the service stops", async () => {
    const waybill = await startWithTenant({ authenticate: async () => carrier })
    await waybill.documents.upload(carrier, documents(fileSample("PDF", 3_000_000)))
    const response = await waybill.handler(new Request("http://x/invoicing/documents/4711"))
    const stopped = waybill.stop()
    const { documents: [document] } = await response.json() as { readonly documents: ReadonlyArray<{ readonly files: ReadonlyArray<{ readonly content: string }> }> }
    expect(Buffer.from(document!.files[0]!.content, "base64").length).toBe(3_000_000)
    await stopped
  })
})

describe("pickups", () => {
  it("are ordered, updated, tracked, reported and cancelled with promises", async () => {
    const waybill = await startWithTenant()
    const [answer] = await waybill.pickups.create(customer, pickup(), { idempotencyKey: "one" })
    const number = answer!.carrierPickupNumber!
    expect([await waybill.pickups.create(customer, pickup(), { idempotencyKey: "one" }), number]).toEqual([[answer], "100000001"])
    const [changed] = await waybill.pickups.update(customer, number, pickup({ number, ready: "10:00:00" }))
    expect(changed!.pickupStatus).toBe("Accept")
    expect((await waybill.pickups.report(carrier, number, { status: "En Route" })).status).toBe("En Route")
    const query = { lookupValue: number, lookupType: "PickupConfirmationID", requestType: "Status", isTest: "false" }
    expect((await waybill.pickups.visibility(customer, query)).status).toBe("En Route")
    await waybill.pickups.cancel(customer, number)
    expect((await waybill.pickups.record(carrier, number)).history.map(({ what }) => what)).toEqual(["ordered", "changed", "reported", "cancelled"])
    expect(await rejection(waybill.pickups.update(customer, number, pickup({ number })))).toMatchObject({ code: "pickup_final", status: 400 })
    expect(await rejection(waybill.pickups.cancel(stranger, number))).toMatchObject({ code: "pickup_not_found", status: 404 })
  })

  it("need no member whose value is unknown; over HTTP every member must be present", async () => {
    const waybill = await startWithTenant()
    const testing = await startTestWaybill({ now: new Date() })
    const full = pickup()
    const short = Object.fromEntries(Object.entries(full).filter(([, value]) => value !== null)) as unknown as PickupInput
    expect(Object.keys(full).length - Object.keys(short).length).toBeGreaterThan(5)
    for (const [{ pickups }, caller] of [[waybill, customer], [testing, testing.shipper]] as const) {
      const [answer] = await pickups.create(caller, { ...short, customer: undefined } as unknown as PickupInput)
      const number = answer!.carrierPickupNumber!
      expect((await pickups.update(caller, number, { ...short, requestFunction: "ModifyExisting" }))[0]!.pickupStatus).toBe("Accept")
    }
    await testing.stop()
    const remote = await startWithTenant({ authenticate: async () => customer })
    const post = new Request("http://x/pickup/v1/pickups/", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(short) })
    expect((await remote.handler(post)).status).toBe(400)
  })

  it("are decided by the host's desk, which is notified of cancellations", async () => {
    const orders: Array<PickupOrder> = []
    const cancelled: Array<string> = []
    const waybill = await startWithTenant({
      pickupDesk: {
        decide: async (order) => {
          orders.push(order)
          return { decision: "accept", carrierPickupNumber: `DESK-${orders.length}`, messages: ["Dock 4."], scac: "ACME" }
        },
        cancelled: async ({ carrierPickupNumber }) => void cancelled.push(carrierPickupNumber)
      }
    })
    const [answer] = await waybill.pickups.create(customer, pickup())
    expect(answer).toMatchObject({ carrierPickupNumber: "DESK-1", pickupMessage: ["Dock 4."], scac: "ACME" })
    await waybill.pickups.create(customer, pickup({ isTest: "True" }))
    expect(orders.map(({ kind, tenantId }) => [kind, tenantId])).toEqual([["new", "acme"]])
    await waybill.pickups.cancel(customer, "DESK-1")
    expect(cancelled).toEqual(["DESK-1"])
  })

  it("are listed and decided for the carrier by the host, over all clients, and its decision is in the audit log", async () => {
    const waybill = await startWithTenant({ pickupDesk: { waitSeconds: 0 } })
    for (let order = 0; order < 2; order++) await waybill.pickups.create(customer, pickup())
    const { data, nextCursor } = await waybill.allPickups.list("acme", { state: "waiting", limit: 1 })
    expect([data, nextCursor]).toMatchObject([[{ client: `key:${customer.client}`, waitingFor: "order" }], data[0]!.pickupId])
    const { pickupId } = data[0]!
    expect(await waybill.allPickups.decide("acme", pickupId, { decision: "accept", confirmationNumber: "C-1" })).toMatchObject({ carrierPickupNumber: "C-1", status: "Accepted" })
    expect((await waybill.allPickups.list("acme", { state: "waiting" })).data.map((each) => each.pickupId)).not.toContain(pickupId)
    expect((await waybill.pickups.record(carrier, "C-1")).history.at(-1)).toMatchObject({ what: "decided", by: "host" })
    expect(await rejection(waybill.allPickups.decide("acme", pickupId, { decision: "reject" }))).toMatchObject({ code: "pickup_decided", status: 409 })
    expect((await waybill.audit.list()).data.slice(0, 2).map(({ action, object, status }) => [action, object.id, status])).toEqual([
      ["pickup.decide-for-carrier", pickupId, 409],
      ["pickup.decide-for-carrier", pickupId, 200]
    ])
  })

  it("are decided in the host's transaction, which the desk gets as it was passed", async () => {
    const given: Array<unknown> = []
    const note = async (_: unknown, { transaction }: PickupDeskCall) => void given.push(transaction)
    const waybill = await startWithTenant({
      pickupDesk: {
        decide: async (order, call) => {
          await note(order, call)
          return { decision: "accept" }
        },
        cancelled: note
      }
    })
    const transaction = new HostTransaction()
    const { pickups } = waybill.within(transaction)
    const [answer] = await pickups.create(customer, pickup())
    const number = answer!.carrierPickupNumber!
    await pickups.update(customer, number, pickup({ number, ready: "10:00:00" }))
    await pickups.cancel(customer, number)
    expect(given.map((each) => each === transaction)).toEqual([true, true, true])
    await waybill.pickups.create(customer, pickup())
    await expect((given[3] as TestClient).query("INSERT")).rejects.toThrow("The transaction is over")
  })

  it("are refused when the desk calls the service, which waits for the desk", async () => {
    const refused: Array<unknown> = []
    let answered = () => {}
    const answer = new Promise<void>((resolve) => answered = resolve)
    let later: Promise<unknown> | undefined
    const waybill: Waybill<HostTransaction> = await startWithTenant({
      pickupDesk: async () => {
        later = answer.then(() => waybill.tenants.list())
        const within = waybill.within(new HostTransaction())
        for (const call of [() => waybill.tenants.list(), () => within.pickups.cancel(customer, "1")]) {
          refused.push(await call().then(() => undefined, ({ message, status }) => [status, message.slice(0, 31)]))
        }
        refused.push((await waybill.handler(new Request("http://x/healthz"))).status)
        return { decision: "accept" }
      }
    })
    expect(await waybill.pickups.create(customer, pickup())).toMatchObject([{ pickupStatus: "Accept" }])
    expect(refused).toEqual([[500, "The pickup desk called Waybill,"], [500, "The pickup desk called Waybill,"], 500])
    answered()
    expect(await later, "work that the desk did not await").toMatchObject({ data: [{ tenantId: "acme" }] })
  })

  it("are not ordered when the desk fails, by promise and over HTTP", async () => {
    const log: Array<string> = []
    const waybill = await startWithTenant({
      authenticate: async () => customer,
      log: ({ level, message }) => void (level === "error" && log.push(message)),
      pickupDesk: async () => {
        throw new Error("The dispatcher's phone is 555-0100.")
      }
    })
    expect(await rejection(waybill.pickups.create(customer, pickup()))).toMatchObject({ code: "pickup_desk_failed", status: 503 })
    const response = await waybill.handler(new Request("http://x/pickup/v1/pickups/", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(pickup()) }))
    const text = await response.text()
    expect([response.status, response.headers.get("retry-after"), Object.keys(JSON.parse(text)), text.includes("555-0100"), log.length]).toEqual([503, "1", ["message"], false, 1])
  })

  it("join a transaction of the host when they write, like invoices and documents", async () => {
    const waybill = await startWithTenant()
    const transaction = new HostTransaction()
    const within = waybill.within(transaction)
    await within.invoices.create(carrier, invoice())
    await within.documents.upload(carrier, documents(fileSample("PDF", 10)))
    await within.pickups.create(customer, pickup())
    expect(transaction.joined).toBe(3)
    expect(Object.keys(within.invoices).concat(Object.keys(within.documents), Object.keys(within.pickups))).toEqual([
      "create", "replace", "remove", "upload", "remove", "create", "update", "cancel", "report", "decide"
    ])
    await expect(waybill.within({} as never).invoices.create(carrier, invoice())).rejects.toThrow("no transaction")
  })
})
