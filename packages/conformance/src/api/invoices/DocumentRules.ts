/** Rules of area B about supporting documents. */
import { expectEachRefused, expectEqual, expectHidden, expectJson, expectStatus, Message, withoutEach } from "../Expectations.ts"
import { type RuleContext, rulesOf, Violation } from "../Rule.ts"
import { billing, DocumentList, DocumentRecord, documentsBody, documentsPath, fileContent, uploadDocuments } from "./InvoiceShapes.ts"

const needs = ["carrier"] as const
const unknownNumber = "WAYBILL-CHECK-NO-SUCH-NUMBER"

const got = async (context: RuleContext, invoiceNumber: string) => {
  const exchange = await billing(context, "GET", documentsPath(invoiceNumber))
  return { exchange, record: expectJson(exchange, DocumentRecord, 200) }
}

const filesIn = ({ documents }: typeof DocumentRecord.Type) => documents.flatMap(({ documentType, files }) => files.map((file) => ({ documentType, ...file })))

const listed = async (context: RuleContext, query: Readonly<Record<string, string | ReadonlyArray<string>>>) => {
  const exchange = await billing(context, "GET", "/documents", { query })
  return { exchange, list: expectJson(exchange, DocumentList, 200) }
}

const documentTypes = [
  "BOL", "CAT", "COMM", "CON", "RULE", "DIM", "DTR", "DIS", "FRB", "FUEL", "INV", "INSP", "LOA", "LPR", "MSDS", "PAC", "IMG", "POD", "QUO", "RESI", "SPEC", "SCL", "STB", "W&I", "OTHER"
]

const uploading = (context: RuleContext, body: unknown) => () => billing(context, "POST", "/documents", { body })

const uploadRules = rulesOf("b", "Area B, Operations: Upload and retrieve supporting documents", [
  { id: "upload", sentence: "takes an upload and answers a message", needs, run: async (context) => expectJson((await uploadDocuments(context)).exchange, Message, 200, 201).message },
  { id: "upload-status", level: "should", source: "published definition of area B: 201", sentence: "answers an upload with 201", needs, run: async (context) => String(expectStatus((await uploadDocuments(context)).exchange, 201).status) },
  {
    id: "documents",
    sentence: "returns documents with their members, and files as objects with id and content",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      const { exchange, record } = await got(context, body.invoiceNumber)
      for (const name of ["shipmentID", "DOT", "MC", "invoiceNumber", "invoiceDate"] as const) expectEqual(record[name], body[name], name, exchange)
      expectEqual(filesIn(record).map(({ documentType }) => documentType).toSorted(), ["BOL", "POD"], "The document types", exchange)
      return `${filesIn(record).length} files`
    }
  },
  {
    id: "documents-content",
    sentence: "returns the content of every file as it was uploaded, under ids of their own",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      const { exchange, record } = await got(context, body.invoiceNumber)
      for (const { documentType, files } of body.documents) expectEqual(filesIn(record).find((file) => file.documentType === documentType)?.content, files[0], `The content of ${documentType}`, exchange)
      expectEqual(new Set(filesIn(record).map(({ id }) => id)).size, filesIn(record).length, "The number of ids", exchange)
      return "the same"
    }
  },
  {
    id: "documents-unknown",
    level: "should",
    source: "published definition of area B: 404",
    sentence: "answers 404 for the documents of an unknown invoice number",
    needs,
    run: async (context) => String(expectStatus(await billing(context, "GET", documentsPath(unknownNumber)), 404).status)
  },
  { id: "upload-required", sentence: "refuses an upload without one of its required members", needs, run: (context) => expectEachRefused(withoutEach(documentsBody(context), ["uniqueID", "shipmentID", "DOT", "MC", "invoiceNumber", "invoiceDate", "documents"]).map(([what, body]) => [what, uploading(context, body)])) },
  {
    id: "upload-types",
    sentence: "takes every document type of the list",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context, { ...documentsBody(context), documents: documentTypes.map((documentType) => ({ documentType, files: [fileContent(documentType)] })) })
      const { exchange, record } = await got(context, body.invoiceNumber)
      expectEqual(filesIn(record).map(({ documentType }) => documentType).toSorted(), documentTypes.toSorted(), "The document types", exchange)
      return `${documentTypes.length} types`
    }
  },
  { id: "upload-type", sentence: "refuses a documentType outside of the list", needs, run: (context) => expectEachRefused([["documentType XYZ", uploading(context, { ...documentsBody(context), documents: [{ documentType: "XYZ", files: [fileContent("x")] }] })]]) },
  { id: "upload-files", sentence: "refuses files that are no array of strings", needs, run: (context) => expectEachRefused([["files 7", uploading(context, { ...documentsBody(context), documents: [{ documentType: "BOL", files: 7 }] })], ["files [7]", uploading(context, { ...documentsBody(context), documents: [{ documentType: "BOL", files: [7] }] })]]) }
])

const listRules = rulesOf("b", "Area B, Operations: List supporting documents", [
  {
    id: "document-list",
    sentence: "lists documents by invoiceNumber as an array",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      const { exchange, list } = await listed(context, { invoiceNumber: body.invoiceNumber })
      expectEqual(list.map(({ invoiceNumber }) => invoiceNumber), [body.invoiceNumber], "What is listed", exchange)
      return "1"
    }
  },
  {
    id: "document-list-combined",
    sentence: "lists only documents that match every filter, DOT and MC too",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      const { exchange: right, list: found } = await listed(context, { invoiceNumber: body.invoiceNumber, DOT: body.DOT, MC: body.MC })
      expectEqual(found.length, 1, "The number of records with the right DOT and MC", right)
      for (const more of [{ DOT: "9999999" }, { MC: "9999999" }]) {
        const { exchange, list } = await listed(context, { invoiceNumber: body.invoiceNumber, ...more })
        expectEqual(list.length, 0, `The number of records with another ${Object.keys(more)[0]}`, exchange)
      }
      return "[]"
    }
  },
  {
    id: "document-list-type",
    sentence: "lists only files of the type that documentType names",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      const { exchange, list } = await listed(context, { invoiceNumber: body.invoiceNumber, documentType: "POD" })
      expectEqual(list.flatMap(filesIn).map(({ documentType }) => documentType), ["POD"], "The document types", exchange)
      return "POD"
    }
  },
  {
    id: "document-list-types",
    sentence: "lists files of every type when documentType is repeated",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      const { exchange, list } = await listed(context, { invoiceNumber: body.invoiceNumber, documentType: ["BOL", "POD"] })
      expectEqual(list.flatMap(filesIn).map(({ documentType }) => documentType).toSorted(), ["BOL", "POD"], "The document types", exchange)
      return "BOL, POD"
    }
  },
  {
    id: "document-list-type-value",
    sentence: "refuses a documentType outside of the list as a filter",
    needs,
    run: (context) => expectEachRefused([["documentType XYZ", () => billing(context, "GET", "/documents", { query: { documentType: "XYZ" } })]])
  }
])

const deleteRules = rulesOf("b", "Area B, Operations: Delete supporting documents", [
  {
    id: "document-delete",
    sentence: "deletes all documents of an invoice number when fileIds is left out, and answers a message",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      const { message } = expectJson(await billing(context, "DELETE", documentsPath(body.invoiceNumber)), Message, 200)
      expectStatus(await billing(context, "GET", documentsPath(body.invoiceNumber)), 404, 410)
      return message
    }
  },
  {
    id: "document-delete-file",
    sentence: "deletes the files in fileIds, and no other",
    needs,
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      const before = filesIn((await got(context, body.invoiceNumber)).record)
      expectStatus(await billing(context, "DELETE", documentsPath(body.invoiceNumber), { query: { fileIds: [before[0]!.id] } }), 200, 204)
      const { exchange, record } = await got(context, body.invoiceNumber)
      expectEqual(filesIn(record).map(({ id }) => id), before.slice(1).map(({ id }) => id), "The ids that are left", exchange)
      return "1 of 2"
    }
  },
  {
    id: "document-delete-unknown",
    level: "should",
    source: "published definition of area B: 404",
    sentence: "answers 404 when documents of an unknown invoice number are deleted",
    needs,
    run: async (context) => String(expectStatus(await billing(context, "DELETE", documentsPath(unknownNumber)), 404).status)
  }
])

const accessRules = rulesOf("b", "Area B: a carrier uploads and deletes; documents are the shipper's or third party's", [
  {
    id: "document-customer-writes",
    sentence: "lets no customer upload or delete documents",
    needs: ["carrier", "customer"],
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      expectHidden(await billing(context, "POST", "/documents", { as: "customer", body: documentsBody(context) }))
      expectHidden(await billing(context, "DELETE", documentsPath(body.invoiceNumber), { as: "customer" }))
      await got(context, body.invoiceNumber)
      return "refused"
    }
  },
  {
    id: "document-foreign",
    sentence: "shows another customer neither the documents nor their entry in the list",
    needs: ["carrier", "other", "shipment"],
    run: async (context) => {
      const { body } = await uploadDocuments(context)
      expectHidden(await billing(context, "GET", documentsPath(body.invoiceNumber), { as: "other" }))
      const list = await billing(context, "GET", "/documents", { as: "other", query: { invoiceNumber: body.invoiceNumber } })
      if (list.text.includes(body.invoiceNumber)) throw new Violation(`The list of another customer shows ${body.invoiceNumber}.`, list)
      return "hidden"
    }
  }
])

export const documentRules = [...uploadRules, ...listRules, ...deleteRules, ...accessRules]
