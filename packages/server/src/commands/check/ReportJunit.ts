/** Results as JUnit XML for CI systems. */
import type { CheckResult } from "@waybill/conformance"
import type { Report } from "./Report.ts"

const escaped = (text: string): string =>
  text
    // Characters that XML 1.0 does not allow, not even escaped.
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

const seconds = (millis: number): string => (millis / 1000).toFixed(3)

const bodyOf = ({ answer, detail, level, request, source, status }: CheckResult): string | undefined => {
  if (status === "not checked") return `<skipped message="${escaped(detail)}"/>`
  if (status === "passed") return undefined
  const lines = [source === undefined ? "" : `${level}, ${source}`, request ?? "", answer ?? ""].filter((line) => line !== "")
  const open = `<failure message="${escaped(detail)}"`
  return lines.length === 0 ? `${open}/>` : `${open}>${escaped(lines.join("\n\n"))}</failure>`
}

export const junitReport = ({ results, url }: Report): string => {
  const count = (status: CheckResult["status"]) => results.filter((result) => result.status === status).length
  const total = results.reduce((sum, { millis }) => sum + millis, 0)
  const counts = `tests="${results.length}" failures="${count("failed")}" errors="0" skipped="${count("not checked")}" time="${seconds(total)}"`
  const cases = results.map((result) => {
    const open = `    <testcase classname="waybill.check.${result.id}" name="${escaped(result.sentence)}" time="${seconds(result.millis)}"`
    const body = bodyOf(result)
    return body === undefined ? `${open}/>` : `${open}>\n      ${body}\n    </testcase>`
  })
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites name="waybill check" ${counts}>`,
    `  <testsuite name="${escaped(url)}" ${counts}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    ""
  ].join("\n")
}
