/** Verdicts as JUnit XML for CI systems. */
import type { Verdict } from "./Verdict.ts"

const escaped = (text: string): string =>
  text
    // Characters that XML 1.0 does not allow, not even escaped.
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

export const junitXml = (url: string, verdicts: ReadonlyArray<Verdict>): string => {
  const seconds = (millis: number) => (millis / 1000).toFixed(3)
  const failures = verdicts.filter(({ met }) => !met).length
  const total = verdicts.reduce((sum, { millis }) => sum + millis, 0)
  const counts = `tests="${verdicts.length}" failures="${failures}" errors="0" skipped="0" time="${seconds(total)}"`
  const cases = verdicts.map(({ detail, id, met, millis, sentence }) => {
    const open = `    <testcase classname="waybill.check.${id}" name="${escaped(sentence)}" time="${seconds(millis)}"`
    return met ? `${open}/>` : `${open}>\n      <failure message="${escaped(detail)}"/>\n    </testcase>`
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
