/** Rules of area B about the size, the number and the format of files. The interface shows no limits; the published definition does. */
import { expectEqual, expectStatus, jsonAnswer } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, should } from "../Rule.ts"
import { billing, DocumentRecord, type DocumentsBody, documentsBody, documentsPath, fileContent, uploadDocuments } from "./InvoiceShapes.ts"

const needs = ["carrier"] as const
const sizes = { source: "published definition of area B: files of up to 25 MB" }
const formats = { source: "published definition of area B: PDF, TIF, JPEG and PNG" }

/** Files of one pixel. */
const pictures = {
  TIF: "SUkqAAoAAAAAAAgAAAEDAAEAAAABAAAAAQEDAAEAAAABAAAAAgEDAAEAAAAIAAAAAwEDAAEAAAABAAAABgEDAAEAAAABAAAAEQEEAAEAAAAIAAAAFgEDAAEAAAABAAAAFwEEAAEAAAABAAAAAAAAAA==",
  JPEG:
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=",
  PNG: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
}

const others = { ZIP: Buffer.from("PK\u0003\u0004waybill check").toString("base64"), text: Buffer.from("Sent by waybill check.").toString("base64") }

/** A file of so many bytes. */
const fileOf = (bytes: number): string => {
  const frame = "%PDF-1.7\n\n%%EOF\n".length
  return fileContent("a".repeat(bytes - frame))
}

/** A file of 25 MB is one of 25 MiB, too. */
const allowedBytes = 25_000_000
const tooManyBytes = 25 * 1024 * 1024 + 1

const withFiles = (context: RuleContext, files: ReadonlyArray<string>): DocumentsBody => ({ ...documentsBody(context), documents: [{ documentType: "BOL", files: [...files] }] })

/** An upload that is refused; what it left is removed at the end. */
const attempt = async (context: RuleContext, body: DocumentsBody) => {
  context.afterwards(() => billing(context, "DELETE", documentsPath(body.invoiceNumber)))
  return billing(context, "POST", "/documents", { body })
}

const expectNothing = async (context: RuleContext, { invoiceNumber }: DocumentsBody) => expectStatus(await billing(context, "GET", documentsPath(invoiceNumber)), 404)

/** More than any list that a client would send. */
const manyFiles = 101

export const fileRules = rulesOf("b", "Area B, Operations: Upload supporting documents", needs, [
  should("file-formats", "takes files in the formats PDF, TIF, JPEG and PNG", formats, async (context) => {
    await uploadDocuments(context, withFiles(context, [fileContent("file"), ...Object.values(pictures)]))
    return `PDF, ${Object.keys(pictures).join(", ")}`
  }),
  should("file-format", "refuses a file in another format, and keeps nothing of the upload", formats, async (context) => {
    for (const content of Object.values(others)) {
      const body = withFiles(context, [fileContent("file"), content])
      expectStatus(await attempt(context, body), 400, 415, 422)
      await expectNothing(context, body)
    }
    return `refused ${Object.keys(others).join(", ")}`
  }),
  should("file-size", "takes a file of 25 MB", sizes, async (context) => {
    const { exchange } = await uploadDocuments(context, withFiles(context, [fileOf(allowedBytes)]))
    return String(exchange.status)
  }),
  should("file-too-large", "refuses a file of more than 25 MB, and keeps nothing of the upload", sizes, async (context) => {
    const body = withFiles(context, [fileContent("file"), fileOf(tooManyBytes)])
    const { status } = expectStatus(await attempt(context, body), 400, 413, 422)
    await expectNothing(context, body)
    return String(status)
  }),
  must("upload-whole", `stores every file of an upload of ${manyFiles} files, or refuses it and stores none`, async (context) => {
    const body = withFiles(context, Array.from({ length: manyFiles }, (_, at) => fileContent(`file ${at}`)))
    const { status } = expectStatus(await attempt(context, body), 200, 201, 400, 413, 422)
    if (status >= 400) {
      await expectNothing(context, body)
      return `refused: ${status}`
    }
    const [{ documents }, exchange] = await jsonAnswer(billing(context, "GET", documentsPath(body.invoiceNumber)), DocumentRecord, 200)
    expectEqual(documents.flatMap(({ files }) => files.map(({ content }) => content)).toSorted(), body.documents[0]!.files.toSorted(), "The content of the files", exchange)
    return `${manyFiles} files`
  })
])
