/** Results as one HTML page without scripts and without anything to load. */
import type { CheckResult } from "@waybill/conformance"
import { type Report, withStatus } from "./Report.ts"

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;").replaceAll("'", "&#39;")

const styles = `body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}
table{border-collapse:collapse;width:100%}td,th{border-top:1px solid #ddd;padding:.4rem .6rem;text-align:left;vertical-align:top}
pre{background:#f5f5f5;padding:.6rem;overflow:auto;max-height:20rem;white-space:pre-wrap;overflow-wrap:anywhere}
.passed{color:#14692b}.failed{color:#a11212;font-weight:600}.not-checked{color:#7a5b00}small{color:#555}`

const rowOf = ({ answer, detail, id, level, request, sentence, source, status }: CheckResult): string => {
  const evidence = [request, answer].filter((text) => text !== undefined).map((text) => `<pre>${escaped(text)}</pre>`).join("")
  return [
    `<tr><td class="${status.replace(" ", "-")}">${status}</td><td><code>${escaped(id)}</code></td>`,
    `<td>${escaped(sentence)}${source === undefined ? "" : `<br><small>${level}: ${escaped(source)}</small>`}</td>`,
    `<td>${escaped(detail)}${evidence}</td></tr>`
  ].join("")
}

export const htmlReport = (report: Report): string => {
  const order = ["failed", "not checked", "passed"] as const
  const counts = order.map((status) => `${withStatus(report, status).length} ${status}`).join(", ")
  return [
    `<!doctype html>`,
    `<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>waybill check</title><style>${styles}</style></head><body>`,
    `<h1>waybill check</h1><p>${escaped(report.url)}: ${counts}</p>`,
    `<table><thead><tr><th>result</th><th>id</th><th>rule</th><th>seen</th></tr></thead><tbody>`,
    ...order.flatMap((status) => withStatus(report, status)).map(rowOf),
    `</tbody></table></body></html>`,
    ""
  ].join("\n")
}
