/** Timeline of shipment status reports. */
import type { ReportOutcome, StatusReport } from "../../shipment-status/model/StatusReport.ts"
import type { TimelineEvent } from "./JourneyEntry.ts"

/** A stored history entry. */
type KeptReport = Omit<StatusReport, "at" | "onlyForward"> & { readonly outcome: ReportOutcome }

export const timelineEventOfStatus = (at: number, report: KeptReport, size: number): TimelineEvent => {
  const facts = factsOf(report)
  const text = report.message ?? (facts.length === 0 ? sourceWords[report.source.kind] : facts.join(", "))
  return {
    at,
    area: "shipment-status",
    kind: facts[0] ?? report.source.kind,
    title: `${text}${outcomeWords[report.outcome]}`,
    reference: report.source.id,
    document: report,
    size
  }
}

/** The facts of a report, most important first. */
const factsOf = ({ information = [], milestone, exceptions = [], terminal }: KeptReport): ReadonlyArray<string> => [
  ...(milestone === undefined ? [] : [milestone]),
  ...information.map((each) => each.deliveryInformation_messages),
  ...exceptions,
  ...(terminal?.status === undefined ? [] : [terminal.status])
]

const sourceWords = { event: "An event", update: "An update", shipment: "Shipment posted" } as const

const outcomeWords: Readonly<Record<ReportOutcome, string>> = {
  applied: "",
  unchanged: " (nothing new)",
  late: " (late)",
  refused: " (refused)"
}
