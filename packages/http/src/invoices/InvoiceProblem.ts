/** Error body of area B: a list of code numbers. The message is in a header. */
import { Schema } from "effect"
import { type Problem, type ProblemShape, sentenceOf } from "../shared/ProblemDetails.ts"

export const ResultStatusCodes = Schema.Array(
  Schema.Literals(["100", "200", "300", "400", "500", "600", "700"]).annotate({
    description: "300: data. 400: format. 500: a rule of business. 600: of the carrier. 700: unknown."
  })
).annotate({ identifier: "ResultStatusCodes" })

/** SPEC-GAP-B30: the code for each error; the interface lists codes without assigning them. */
const codesOf = ({ code, errors = [], status }: Problem): ReadonlyArray<string> => {
  if (status >= 500 || status === 429) return ["700"]
  switch (code) {
    case "invoice_not_yours":
      return ["600"]
    case "invoice_exists":
    case "unauthenticated":
    case "not_permitted":
    case "tenant_suspended":
    case "quota_exceeded":
      return ["500"]
    case "file_too_large":
    case "body_too_large":
    case "file_format_unknown":
    case "invoice_not_found":
    case "document_not_found":
      return ["300"]
    case "invalid_input":
      return errors.length === 0 ? ["300"] : [...new Set(errors.map((error) => error.code === "conflict" ? "500" : "300"))].sort()
    default:
      return ["400"]
  }
}

export const maxDetailLength = 1000

/** Headers hold printable ASCII only; other characters become `?`, which still shows the location of an error. */
export const headerText = (text: string): string => {
  const plain = text.replaceAll(/[^\x20-\x7e]/gu, "?")
  return plain.length <= maxDetailLength ? plain : `${plain.slice(0, maxDetailLength - 3)}...`
}

export const invoiceProblem = {
  contentType: "application/json",
  schema: ResultStatusCodes,
  write: (problem: Problem) => JSON.stringify(codesOf(problem)),
  headers: {
    specs: { "X-Waybill-Detail": { description: "What was wrong, in words.", schema: Schema.String } },
    write: (problem: Problem) => ({ "x-waybill-detail": headerText(sentenceOf(problem)) })
  }
} satisfies ProblemShape
