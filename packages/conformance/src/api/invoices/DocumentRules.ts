/** Rules of area B about supporting documents. */
import { expectEachRefused, expectEqual, expectHidden, expectJson, expectStatus, expectUnauthorized, jsonAnswer, Message, withoutEach } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, should, Violation } from "../Rule.ts"
import { asSent, billing, DocumentList, type DocumentsBody, DocumentRecord, documentsBody, documentsPath, fileContent, onDocuments, uploadDocuments } from "./InvoiceShapes.ts"

const needs = ["carrier"] as const
const unknownNumber = "WAYBILL-CHECK-NO-SUCH-NUMBER"

const got = (context: RuleContext, invoiceNumber: string) =>
  jsonAnswer(billing(context, "GET", documentsPath(invoiceNumber)), DocumentRecord, 200)

const filesIn = ({ documents }: typeof DocumentRecord.Type) => documents.flatMap(({ documentType, files }) => files.map((file) => ({ documentType, ...file })))

const listed = (context: RuleContext, query: Readonly<Record<string, string | ReadonlyArray<string>>>) =>
  jsonAnswer(billing(context, "GET", "/documents", { query }), DocumentList, 200)

const documentTypes = [
  "BOL", "CAT", "COMM", "CON", "RULE", "DIM", "DTR", "DIS", "FRB", "FUEL", "INV", "INSP", "LOA", "LPR", "MSDS", "PAC", "IMG", "POD", "QUO", "RESI", "SPEC", "SCL", "STB", "W&I", "OTHER"
]

const uploading = (context: RuleContext, body: unknown) => () => billing(context, "POST", "/documents", { body })

const uploadRules = rulesOf("b", "Area B, Operations: Upload and retrieve supporting documents", needs, [
  must("upload", "takes an upload and answers a message", async (context) => expectJson((await uploadDocuments(context)).exchange, Message, 200, 201).message),
  should("upload-status", "answers an upload with 201", {
    source: "published definition of area B: 201"
  }, async (context) => String(expectStatus((await uploadDocuments(context)).exchange, 201).status)),
  must("documents", "returns documents with their members, and files as objects with id and content", onDocuments(async ({ body }, context) => {
    const [record, exchange] = await got(context, body.invoiceNumber)
    for (const name of ["uniqueID", "shipmentID", "DOT", "MC", "invoiceNumber", "invoiceDate"] as const) expectEqual(record[name], body[name], name, exchange)
    expectEqual(filesIn(record).map(({ documentType }) => documentType).toSorted(), ["BOL", "POD"], "The document types", exchange)
    return `${filesIn(record).length} files`
  })),
  must("documents-optional", "returns documentSource, attributes and comments as they were uploaded", onDocuments(async ({ body }, context) => {
    const [record, exchange] = await got(context, body.invoiceNumber)
    for (const name of ["documentSource", "attributes", "comments"] as const) expectEqual(asSent(record[name], body[name]), body[name], name, exchange)
    return "3 members"
  })),
  must("documents-content", "returns the content of every file as it was uploaded, under ids of their own", onDocuments(async ({ body }, context) => {
    const [record, exchange] = await got(context, body.invoiceNumber)
    for (const { documentType, files } of body.documents) expectEqual(filesIn(record).find((file) => file.documentType === documentType)?.content, files[0], `The content of ${documentType}`, exchange)
    expectEqual(new Set(filesIn(record).map(({ id }) => id)).size, filesIn(record).length, "The number of ids", exchange)
    return "the same"
  })),
  should("documents-unknown", "answers 404 for the documents of an unknown invoice number", {
    source: "published definition of area B: 404"
  }, async (context) => String(expectStatus(await billing(context, "GET", documentsPath(unknownNumber)), 404).status)),
  must("upload-required", "refuses an upload without one of its required members", (context) =>
    expectEachRefused(withoutEach(documentsBody(context), ["uniqueID", "shipmentID", "DOT", "MC", "invoiceNumber", "invoiceDate", "documents"]).map(([what, body]) => [what, uploading(context, body)]))),
  must("upload-types", "takes every document type of the list", async (context) => {
    const { body } = await uploadDocuments(context, { ...documentsBody(context), documents: documentTypes.map((documentType) => ({ documentType, files: [fileContent(documentType)] })) })
    const [record, exchange] = await got(context, body.invoiceNumber)
    expectEqual(filesIn(record).map(({ documentType }) => documentType).toSorted(), documentTypes.toSorted(), "The document types", exchange)
    return `${documentTypes.length} types`
  }),
  must("upload-type", "refuses a documentType outside of the list", (context) =>
    expectEachRefused([["documentType XYZ", uploading(context, { ...documentsBody(context), documents: [{ documentType: "XYZ", files: [fileContent("x")] }] })]])),
  must("upload-files", "refuses files that are no array of strings", (context) =>
    expectEachRefused([["files 7", uploading(context, { ...documentsBody(context), documents: [{ documentType: "BOL", files: 7 }] })], ["files [7]", uploading(context, { ...documentsBody(context), documents: [{ documentType: "BOL", files: [7] }] })]]))
])

const listRules = rulesOf("b", "Area B, Operations: List supporting documents", needs, [
  must("document-list", "lists documents by invoiceNumber as an array", onDocuments(async ({ body }, context) => {
    const [list, exchange] = await listed(context, { invoiceNumber: body.invoiceNumber })
    expectEqual(list.map(({ invoiceNumber }) => invoiceNumber), [body.invoiceNumber], "What is listed", exchange)
    return "1"
  })),
  must("document-list-combined", "lists only documents that match every filter, DOT and MC too", onDocuments(async ({ body }, context) => {
    const [found, right] = await listed(context, { invoiceNumber: body.invoiceNumber, DOT: body.DOT, MC: body.MC })
    expectEqual(found.length, 1, "The number of records with the right DOT and MC", right)
    for (const more of [{ DOT: "9999999" }, { MC: "9999999" }]) {
      const [list, exchange] = await listed(context, { invoiceNumber: body.invoiceNumber, ...more })
      expectEqual(list.length, 0, `The number of records with another ${Object.keys(more)[0]}`, exchange)
    }
    return "[]"
  })),
  must("document-list-type", "lists only files of the type that documentType names", onDocuments(async ({ body }, context) => {
    const [list, exchange] = await listed(context, { invoiceNumber: body.invoiceNumber, documentType: "POD" })
    expectEqual(list.flatMap(filesIn).map(({ documentType }) => documentType), ["POD"], "The document types", exchange)
    return "POD"
  })),
  must("document-list-types", "lists files of every type when documentType is repeated", onDocuments(async ({ body }, context) => {
    const [list, exchange] = await listed(context, { invoiceNumber: body.invoiceNumber, documentType: ["BOL", "POD"] })
    expectEqual(list.flatMap(filesIn).map(({ documentType }) => documentType).toSorted(), ["BOL", "POD"], "The document types", exchange)
    return "BOL, POD"
  })),
  must("document-list-type-value", "refuses a documentType outside of the list as a filter", (context) =>
    expectEachRefused([["documentType XYZ", () => billing(context, "GET", "/documents", { query: { documentType: "XYZ" } })]]))
])

/** Deletes the first files. */
const expectDeleted = async (context: RuleContext, { invoiceNumber }: DocumentsBody, count: number): Promise<string> => {
  const ids = filesIn((await got(context, invoiceNumber))[0]).map(({ id }) => id)
  expectStatus(await billing(context, "DELETE", documentsPath(invoiceNumber), { query: { fileIds: ids.slice(0, count) } }), 200, 204)
  const [record, exchange] = await got(context, invoiceNumber)
  expectEqual(filesIn(record).map(({ id }) => id), ids.slice(count), "The ids that are left", exchange)
  return `${count} of ${ids.length}`
}

const deleteRules = rulesOf("b", "Area B, Operations: Delete supporting documents", needs, [
  must("document-delete", "deletes all documents of an invoice number when fileIds is left out, and answers a message", onDocuments(async ({ body }, context) => {
    const { message } = expectJson(await billing(context, "DELETE", documentsPath(body.invoiceNumber)), Message, 200)
    expectStatus(await billing(context, "GET", documentsPath(body.invoiceNumber)), 404, 410)
    return message
  })),
  must("document-delete-file", "deletes the file in fileIds, and no other", onDocuments((uploaded, context) => expectDeleted(context, uploaded.body, 1))),
  must("document-delete-files", "deletes every file in fileIds when it is repeated, and no other", async (context) => {
    const body = documentsBody(context)
    const uploaded = await uploadDocuments(context, { ...body, documents: [...body.documents, { documentType: "IMG", files: [fileContent("picture")] }] })
    return expectDeleted(context, uploaded.body, 2)
  }),
  must("document-delete-unknown-file", "deletes nothing when fileIds names no file, or is empty", { source: "Area B: only without fileIds all documents are deleted" }, onDocuments(async ({ body }, context) => {
    for (const fileIds of ["00000000-0000-4000-8000-000000000000", ""]) await billing(context, "DELETE", documentsPath(body.invoiceNumber), { query: { fileIds } })
    const [record, exchange] = await got(context, body.invoiceNumber)
    expectEqual(filesIn(record).length, body.documents.length, "The number of files that are left", exchange)
    return "nothing"
  })),
  should("document-delete-unknown", "answers 404 when documents of an unknown invoice number are deleted", {
    source: "published definition of area B: 404"
  }, async (context) => String(expectStatus(await billing(context, "DELETE", documentsPath(unknownNumber)), 404).status))
])

const accessRules = rulesOf("b", "Area B: a carrier uploads and deletes; documents are the shipper's or third party's", ["carrier", "customer"], [
  must("document-customer-writes", "lets no customer upload or delete documents", onDocuments(async ({ body }, context) => {
    expectHidden(await billing(context, "POST", "/documents", { as: "customer", body: documentsBody(context) }))
    expectHidden(await billing(context, "DELETE", documentsPath(body.invoiceNumber), { as: "customer" }))
    await got(context, body.invoiceNumber)
    return "refused"
  })),
  should("documents-unauthenticated", "refuses calls about documents without valid credentials with 401", { source: "Authentication", needs: [] }, (context) =>
    expectUnauthorized(
      (as) => billing(context, "GET", "/documents", { as }),
      (as) => billing(context, "POST", "/documents", { as, body: documentsBody(context) }),
      (as) => billing(context, "GET", documentsPath(unknownNumber), { as }),
      (as) => billing(context, "DELETE", documentsPath(unknownNumber), { as })
    )),
  should("document-customer-reads", "shows the customer the documents of its shipment", { needs: ["carrier", "customer", "shipment"] }, onDocuments(async ({ body }, context) => {
    const [record] = await jsonAnswer(billing(context, "GET", documentsPath(body.invoiceNumber), { as: "customer" }), DocumentRecord, 200)
    return `${filesIn(record).length} files`
  })),
  must("document-foreign", "shows another customer neither the documents nor their entry in the list", { needs: ["carrier", "other", "shipment"] }, onDocuments(async ({ body }, context) => {
    expectHidden(await billing(context, "GET", documentsPath(body.invoiceNumber), { as: "other" }))
    const list = await billing(context, "GET", "/documents", { as: "other", query: { invoiceNumber: body.invoiceNumber } })
    if (list.text.includes(body.invoiceNumber)) throw new Violation(`The list of another customer shows ${body.invoiceNumber}.`, list)
    return "hidden"
  }))
])

export const documentRules = [...uploadRules, ...listRules, ...deleteRules, ...accessRules]
