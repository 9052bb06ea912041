/** Broken implementations whose limits for files are others than published. */
import { jsonReply } from "./MutatingProxy.ts"
import { accepting, answering, type Json, type Mutant } from "./Mutations.ts"

const documents = /^\/invoicing\/documents$/u
const document = /^\/invoicing\/documents\/[^/]+$/u

/** Uploads of more bytes of JSON than a small file has. */
const isLarge = ({ body }: { readonly body: string }) => body.length > 1_000_000

export const fileMutants: ReadonlyArray<Mutant> = [
  { rule: "b-file-formats", name: "pictures are refused", seen: "answered 400", ...answering("POST", documents, jsonReply(400, ["300"]), ({ body }) => body.includes("/9j/")) },
  { rule: "b-file-format", name: "any format is accepted", seen: "answered 200", ...accepting("POST", documents, { message: "ok" }) },
  { rule: "b-file-format", name: "a refused upload is kept in part", seen: "answered 200", ...answering("GET", document, jsonReply(200, {})) },
  { rule: "b-file-size", name: "files of 25 MB are refused", seen: "answered 413", ...answering("POST", documents, jsonReply(413, ["300"]), isLarge) },
  { rule: "b-file-too-large", name: "a file of any size is accepted", seen: "answered 201", ...answering("POST", documents, jsonReply(201, { message: "ok" }), isLarge) },
  { rule: "b-file-too-large", name: "a refused upload is kept in part", seen: "answered 200", ...answering("GET", document, jsonReply(200, {})) },
  {
    rule: "b-upload-whole",
    name: "files beyond the hundredth are dropped",
    seen: "The content of the files",
    call: (call) => {
      if (call.method !== "POST" || !documents.test(call.path)) return call
      const json: Json = JSON.parse(call.body)
      return { ...call, body: JSON.stringify({ ...json, documents: json.documents.map((each: Json) => ({ ...each, files: each.files.slice(0, 100) })) }) }
    }
  },
  { rule: "b-upload-whole", name: "a refused upload is kept in part", seen: "answered 200", ...answering("GET", document, jsonReply(200, {})) }
]
