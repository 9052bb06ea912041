/** Reports in every format. */
import type { CheckResult } from "@waybill/conformance"
import { printable } from "../../Printable.ts"
import { type Report, withStatus } from "./Report.ts"
import { htmlReport } from "./ReportHtml.ts"
import { junitReport } from "./ReportJunit.ts"

export const reportFormats = ["text", "json", "junit", "html"] as const
export type ReportFormat = typeof reportFormats[number]

const marks: Readonly<Record<CheckResult["status"], string>> = { "passed": "✓", "failed": "✗", "not checked": "-" }

const indented = (text: string): string => text.split("\n").map((line) => `    ${printable(line)}`).join("\n")

export const resultText = ({ answer, detail, id, level, request, sentence, source, status }: CheckResult): string =>
  [
    `${marks[status]} ${source === undefined ? "" : `${id} (${level}): `}${sentence}`,
    ...(source === undefined || status !== "failed" ? [] : [indented(`${source}`)]),
    indented(status === "not checked" ? `not checked: ${detail}` : detail),
    ...[request, answer].filter((text) => text !== undefined).map(indented)
  ].join("\n")

const json = (report: Report): string =>
  `${JSON.stringify({
    url: report.url,
    passed: withStatus(report, "failed").length === 0,
    counts: { passed: withStatus(report, "passed").length, failed: withStatus(report, "failed").length, notChecked: withStatus(report, "not checked").length },
    results: report.results
  })}\n`

export const reportAs: Readonly<Record<ReportFormat, (report: Report) => string>> = {
  text: ({ results }) => `${results.map(resultText).join("\n")}\n`,
  json,
  junit: junitReport,
  html: htmlReport
}
