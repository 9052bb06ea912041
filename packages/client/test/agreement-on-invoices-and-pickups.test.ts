/** Invoices, documents and pickups over HTTP, against the service with in-memory storage. */
import { forRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { DocumentsClient } from "../src/invoices/index.ts"
import { OperatorClient } from "../src/operator/index.ts"
import { invoice, invoiceOf, pdf, uploadOf } from "./invoice-samples.ts"
import { fullOrder, leastOrder } from "./pickup-samples.ts"
import { operatorKey, startService } from "./ServiceInMemory.ts"

describe("Invoices between client and service", () => {
  it("are created, read by their addressees, replaced and removed", async () => {
    const { broker, carrier, other, shipper } = await startService()
    expect(await carrier.invoices.create(invoice)).toEqual({ message: expect.any(String) })
    expect(await shipper.invoices.get("I/1")).toEqual({ invoice })
    expect(await Array.fromAsync(shipper.invoices.all({ DOT: "123456" }))).toEqual([invoice])
    expect(await Array.fromAsync(broker.invoices.all())).toEqual([])
    await expect(broker.invoices.get("I/1")).rejects.toMatchObject({ status: 404, codes: ["300"], detail: expect.stringContaining("I/1") })
    await expect(shipper.invoices.create(invoice)).rejects.toMatchObject({ status: 403, codes: ["500"] })
    await expect(other.invoices.create(invoice)).rejects.toMatchObject({ status: 403, codes: ["600"], detail: expect.stringContaining("999") })
    const changed = { ...invoice, attributes: [...invoice.attributes, { type: "account", value: "0815" }], custom: { kept: true } }
    expect(await carrier.invoices.replace(changed, { comments: [{ id: 1, commentText: "wrong & \"late\" é" }, { commentText: "sorry" }] })).toEqual({ message: expect.any(String) })
    expect(await broker.invoices.get("I/1", { carrier: { DOT: "123456", MC: "654321" } })).toEqual({ invoice: changed })
    await carrier.invoices.remove("I/1", { carrier: { MC: "654321" }, comment: { commentText: "twice" } })
    await expect(carrier.invoices.remove("I/1")).rejects.toMatchObject({ status: 404 })
    await expect(carrier.invoices.replace(invoice)).rejects.toMatchObject({ status: 404 })
  })

  it("keep amounts as they were written, and return a warning when they do not add up", async () => {
    const { carrier } = await startService()
    await forRandom(30, async (random) => {
      const digits = (most: number) => Array.from({ length: 1 + random.below(most) }, () => random.below(10)).join("")
      const value = `${random.pick(["", "-"])}${digits(14)}${random.pick(["", `.${digits(15)}`])}`
      const odd = invoiceOf(`I${digits(30)}`, value)
      const written = await carrier.invoices.create(odd)
      expect(written.warning).toContain(`the invoice amount is ${value} USD`)
      expect(await carrier.invoices.get(odd.uniqueID)).toEqual({ invoice: odd, warning: written.warning })
    })
    await expect(carrier.invoices.create(invoiceOf("I0", "1e3"))).rejects.toMatchObject({ status: 400, codes: ["300"], detail: expect.stringContaining("invoiceAmount.value") })
  })

  it("are created once, however often the response is lost", async () => {
    const { carrier, lost } = await startService()
    lost.next = 1
    await carrier.invoices.create(invoice)
    await expect(carrier.invoices.create({ ...invoice, shipmentID: "S2" })).rejects.toMatchObject({ status: 400, codes: ["500"], detail: expect.stringContaining("exists") })
    lost.next = 1
    await carrier.invoices.remove("I/1")
    expect(await Array.fromAsync(carrier.invoices.all())).toEqual([])
  })

  it("are listed page by page", async () => {
    const { carrier } = await startService()
    const ids = ["a", "b", "c", "d", "e"]
    for (const id of ids) await carrier.invoices.create(invoiceOf(id))
    const first = await carrier.invoices.list({ limit: 2 })
    expect([first.data.length, typeof first.nextCursor]).toEqual([2, "string"])
    expect((await Array.fromAsync(carrier.invoices.all({ limit: 2 }))).map(({ uniqueID }) => uniqueID)).toEqual(ids)
    expect((await Array.fromAsync(carrier.invoices.all({ invoiceNumber: "N-c" }))).map(({ uniqueID }) => uniqueID)).toEqual(["c"])
    await expect(carrier.invoices.list({ cursor: "made up" })).rejects.toMatchObject({ status: 400, detail: expect.stringContaining("cursor") })
  })
})

describe("Documents between client and service", () => {
  const files = [pdf(300_001, 1), pdf(5, 2), pdf(70_000, 3)] as const

  it("are uploaded, read by their addressees, downloaded and removed", async () => {
    const { broker, carrier, shipper } = await startService()
    const upload = uploadOf([
      { documentType: "POD", files: [files[0], new Blob([files[1]])] },
      { documentType: "W&I", files: [Buffer.from(files[2]).toString("base64")] }
    ])
    const { fileIds, message } = await carrier.documents.upload(upload)
    expect([fileIds.length, message]).toEqual([3, expect.stringContaining("3 files")])
    const stored = await shipper.documents.get("N/1")
    const expected = {
      ...upload,
      documents: [
        { documentType: "POD", files: [{ id: fileIds[0], content: files[0] }, { id: fileIds[1], content: files[1] }] },
        { documentType: "W&I", files: [{ id: fileIds[2], content: files[2] }] }
      ]
    }
    expect(stored).toEqual(expected)
    const seen: Array<readonly [string, Uint8Array]> = []
    await shipper.documents.download("N/1", async ({ id }, content) => void seen.push([id, new Uint8Array(await new Response(content).arrayBuffer())]))
    expect(seen).toEqual(fileIds.map((id, at) => [id, files[at]]))
    expect(await Array.fromAsync(shipper.documents.all({ documentType: ["W&I", "BOL"] }))).toEqual([{ ...expected, documents: [expected.documents[1]] }])
    await expect(broker.documents.get("N/1")).rejects.toMatchObject({ status: 404, codes: ["300"] })
    await expect(carrier.documents.remove("N/1", { fileIds: [fileIds[0]!, "unknown"] })).rejects.toMatchObject({ status: 404 })
    await carrier.documents.remove("N/1", { fileIds: [fileIds[0]!, fileIds[2]!], comment: { commentText: "blurred" }, carrier: { DOT: "123456" } })
    expect((await shipper.documents.get("N/1", { carrier: { DOT: "123456" } })).documents).toEqual([{ documentType: "POD", files: [{ id: fileIds[1], content: files[1] }] }])
    await carrier.documents.remove("N/1")
    await expect(carrier.documents.remove("N/1")).rejects.toMatchObject({ status: 404 })
  })

  it("are refused as a whole, with a reason", async () => {
    const { carrier } = await startService()
    const bad = [
      [new TextEncoder().encode("<html>"), "PDF"],
      ["not base64!", "base64"],
      ["data:application/pdf;base64,JVBERi0=", "base64"],
      [new Uint8Array(0), "PDF"]
    ] as const
    for (const [file, reason] of bad) {
      await expect(carrier.documents.upload(uploadOf([{ documentType: "POD", files: [files[1], file] }])))
        .rejects.toMatchObject({ name: "WaybillProblem", status: 400, codes: ["300"], detail: expect.stringMatching(new RegExp(`documents.0.files.1.*${reason}`, "s")) })
    }
    await expect(carrier.documents.get("N/1")).rejects.toMatchObject({ status: 404 })
  })

  it("are listed page by page", async () => {
    const { carrier } = await startService()
    for (const invoiceNumber of ["a", "b", "c"]) {
      await carrier.documents.upload({ ...uploadOf([{ documentType: "POD", files: [files[1]] }]), invoiceNumber })
    }
    expect((await carrier.documents.list({ limit: 2 })).data.map(({ invoiceNumber }) => invoiceNumber)).toEqual(["a", "b"])
    expect((await Array.fromAsync(carrier.documents.all({ limit: 1 }))).map(({ invoiceNumber }) => invoiceNumber)).toEqual(["a", "b", "c"])
  })

  describe("over sockets", () => {
    it.each([[true, 25 * 1024 * 1024], [false, 3_000_000]])("are uploaded with streaming: %s, %i bytes", async (streamUploads, size) => {
      const { baseUrl, carrier } = await startService({ sockets: true })
      const large = pdf(size, 5)
      const sending = streamUploads ? carrier.documents : await blobClient(baseUrl)
      await sending.upload(uploadOf([{ documentType: "POD", files: [new Blob([large])] }]))
      let [at, same, longest] = [0, true, 0]
      await carrier.documents.download("N/1", async (_, content) => {
        for await (const piece of content as unknown as AsyncIterable<Uint8Array>) {
          same &&= Buffer.compare(piece, large.subarray(at, at += piece.length)) === 0
          longest = Math.max(longest, piece.length)
        }
      })
      expect([at, same]).toEqual([large.length, true])
      expect(longest).toBeLessThanOrEqual(64 * 1024)
      const { documents: [document] } = await carrier.documents.get("N/1")
      expect(Buffer.compare(document!.files[0]!.content, large)).toBe(0)
    }, 60_000)

    it("are refused before the upload ends: too large, unknown format, no credentials", async () => {
      const { baseUrl, carrier } = await startService({ sockets: true })
      const huge = new Blob([pdf(25 * 1024 * 1024 + 1)])
      await expect(carrier.documents.upload(uploadOf([{ documentType: "POD", files: [huge] }]))).rejects.toMatchObject({ status: 413, codes: ["300"] })
      const odd = new Blob([new Uint8Array(10_000_000)])
      await expect(carrier.documents.upload(uploadOf([{ documentType: "POD", files: [odd] }]))).rejects.toMatchObject({ status: 400, detail: expect.stringContaining("PDF") })
      for (const streamUploads of [true, false]) {
        const unknown = new DocumentsClient({ baseUrl, apiKey: "nobody's", streamUploads })
        await expect(unknown.upload(uploadOf([{ documentType: "POD", files: [files[0]] }]))).rejects.toMatchObject({ status: 401, codes: ["500"] })
      }
    }, 60_000)
  })
})

/** A second client of a carrier, which uploads as browsers do. */
const blobClient = async (baseUrl: string) => {
  const operator = new OperatorClient({ baseUrl, apiKey: operatorKey })
  const { key: apiKey } = await operator.createApiKey("acme", { name: "browser", roles: ["carrier"] })
  return new DocumentsClient({ baseUrl, apiKey, streamUploads: false })
}

describe("Pickups between client and service", () => {
  it("are ordered, read, changed and cancelled", async () => {
    const { broker, shipper } = await startService()
    const [answer] = await shipper.pickups.create(fullOrder)
    const number = answer.carrierPickupNumber!
    expect(answer).toMatchObject({ pickupStatus: "Accept", carrierPickupNumber: expect.stringMatching(/^\d{9}$/), shipperRef: ["R-1", "041-8367745"], pickupMessage: ["No e-mail is sent to confirmationEmail. This answer is the confirmation."] })
    for (const by of [{ confirmationId: number }, { proNumber: "0418367745" }]) {
      expect(await shipper.pickups.visibility(by)).toMatchObject({
        pickupConfirmationId: number, status: "Accepted", informationCode: { code: null }, stopEta: "2099-11-20T08:00:00.000", stopEtaTimeZone: "UTC-6",
        equipmentInformation: null, shipmentArray: [{ proNumber: "041-8367745", destinationPostalCode: "02134", handlingUnitQuantity: 2, weight: 640 }]
      })
      await expect(broker.pickups.visibility(by)).rejects.toMatchObject({ status: 404, body: "" })
    }
    const [changed] = await shipper.pickups.update(number, { ...fullOrder, trailerNumber: "54" })
    expect(changed).toMatchObject({ pickupStatus: "Accept", carrierPickupNumber: number, trailerNumber: "54" })
    await expect(broker.pickups.cancel(number)).rejects.toMatchObject({ status: 404 })
    await shipper.pickups.cancel(number)
    await shipper.pickups.cancel(number)
    expect(await shipper.pickups.visibility({ confirmationId: number })).toMatchObject({ status: "Cancelled", informationCode: { code: "400", subCode: "2" } })
    await expect(shipper.pickups.update(number, fullOrder)).rejects.toMatchObject({ status: 400, detail: expect.stringContaining("Cancelled") })
    await expect(shipper.pickups.create({ ...leastOrder, grossPickupWeight: 0 })).rejects.toMatchObject({ status: 400, detail: expect.stringContaining("grossPickupWeight") })
  })

  it("are ordered once, however often the response is lost", async () => {
    const { carrier, lost, shipper } = await startService()
    lost.next = 2
    const [first] = await shipper.pickups.create(leastOrder)
    lost.next = 3
    const failed = await shipper.pickups.create(leastOrder).catch((error: unknown) => error) as { readonly call: { readonly idempotencyKey: string } }
    const [second] = await shipper.pickups.create(leastOrder, { idempotencyKey: failed.call.idempotencyKey })
    const [again] = await shipper.pickups.create(leastOrder, { idempotencyKey: failed.call.idempotencyKey })
    const [third] = await shipper.pickups.create(leastOrder)
    expect([first, second, again, third].map(({ carrierPickupNumber }) => Number(carrierPickupNumber) - Number(first.carrierPickupNumber))).toEqual([0, 1, 1, 2])
    await expect(shipper.pickups.create({ ...leastOrder, linearFeet: 5 }, { idempotencyKey: failed.call.idempotencyKey }))
      .rejects.toMatchObject({ status: 400, detail: expect.stringContaining("Idempotency-Key"), call: { idempotencyKey: failed.call.idempotencyKey } })
    expect((await carrier.intake.getPickupRecord(third.carrierPickupNumber!)).history).toHaveLength(1)
  })

  it("are kept apart from real ones when they are tests", async () => {
    const { shipper } = await startService()
    const [test] = await shipper.pickups.create({ ...fullOrder, isTest: true })
    const by = { confirmationId: test.carrierPickupNumber! }
    await expect(shipper.pickups.visibility(by)).rejects.toMatchObject({ status: 404 })
    expect(await shipper.pickups.visibility(by, { isTest: true })).toMatchObject({ pickupConfirmationId: by.confirmationId, status: "Accepted" })
    await expect(shipper.pickups.visibility({ proNumber: "041-8367745" })).rejects.toMatchObject({ status: 404 })
    expect((await shipper.pickups.update(by.confirmationId, { ...fullOrder, isTest: true }))[0].pickupStatus).toBe("Accept")
    await shipper.pickups.cancel(by.confirmationId)
  })

  it("show the reports of the carrier, which the carrier can read back", async () => {
    const { carrier, lost, shipper } = await startService()
    const number = (await shipper.pickups.create(fullOrder))[0].carrierPickupNumber!
    const report = {
      status: "En Route", stopEta: "2099-11-20T09:15:00", stopEtaTimeZone: "America/Chicago",
      equipmentInformation: { driverName: "Pat", stopsAway: 3, gpsCoordinates: { latitude: 41.25, longitude: -95.99 } }
    } as const
    lost.next = 1
    expect(await carrier.intake.reportPickupStatus(number, report)).toEqual({ result: "duplicate", pickupId: expect.any(String), carrierPickupNumber: number, status: "En Route" })
    expect(await shipper.pickups.visibility({ confirmationId: number })).toMatchObject({
      status: "En Route", stopEta: "2099-11-20T09:15:00", stopEtaTimeZone: "UTC-6",
      equipmentInformation: { driverName: "Pat", trailerNumber: null, stopsAway: 3, gpsCoordinates: { latitude: 41.25, longitude: -95.99 } }
    })
    await expect(carrier.intake.reportPickupStatus(number, { status: "Departed" })).rejects.toMatchObject({
      status: 400, errors: [expect.objectContaining({ pointer: "/status", detail: expect.stringContaining("En Route") })]
    })
    const again = { status: "Re-Attempt", informationCode: { code: "320", subCode: "1" } } as const
    expect(await carrier.intake.reportPickupStatus(number, again)).toMatchObject({ result: "accepted", status: "Re-Attempt" })
    const record = await carrier.intake.getPickupRecord(number)
    expect(record).toMatchObject({
      carrierPickupNumber: number, isTest: false, client: expect.stringContaining("shipper"), accounts: ["4711"], request: { ...fullOrder, isTest: "False", requestFunction: "NewPickup" },
      visibility: { pickupConfirmationId: number, informationCode: { code: "320", subCode: "1", subCodeDescription: "No freight (driver)" } }
    })
    expect(record.history.map(({ position, status, what }) => [position, what, status])).toEqual([[1, "ordered", "Accepted"], [2, "reported", "En Route"], [3, "reported", "Re-Attempt"]])
    await expect(shipper.intake.getPickupRecord(number)).rejects.toMatchObject({ status: 403 })
    await expect(carrier.intake.getPickupRecord("unknown")).rejects.toMatchObject({ status: 404 })
  })
})
