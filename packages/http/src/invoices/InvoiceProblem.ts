/** Error body of area B: a list of code numbers. The message is in a header. */
import { Schema } from "effect"
import { type Problem, type ProblemShape, sentenceOf } from "../shared/ProblemDetails.ts"

export const ResultStatusCodes = Schema.Array(
  Schema.Literals(["100", "200", "300", "400", "500", "600", "700"]).annotate({
    description: "300: data. 400: format. 500: a rule of business. 600: of the carrier. 700: unknown."
  })
).annotate({ identifier: "ResultStatusCodes" })

/** SPEC-GAP-B30: the code for each error; the interface lists codes without assigning them. All others are 400. */
const resultCodes: Readonly<Record<string, string>> = {
  invoice_not_yours: "600",
  invoice_exists: "500",
  unauthenticated: "500",
  not_permitted: "500",
  tenant_suspended: "500",
  quota_exceeded: "500",
  file_too_large: "300",
  body_too_large: "300",
  file_format_unknown: "300",
  invoice_not_found: "300",
  document_not_found: "300",
  invalid_input: "300"
}

const codesOf = ({ code, errors = [], status }: Problem): ReadonlyArray<string> => {
  if (status >= 500 || status === 429) return ["700"]
  if (code === "invalid_input" && errors.length > 0) return [...new Set(errors.map((error) => error.code === "conflict" ? "500" : "300"))].sort()
  return [resultCodes[code] ?? "400"]
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
