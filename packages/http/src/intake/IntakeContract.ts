/** Where the carrier's own system hands in what happened. */
import { maxEventsPerCall, ReportedEvent } from "@waybill/core"
import { Schema } from "effect"
import { contract } from "../shared/Contract.ts"
import { ProblemFault } from "../shared/ProblemDetails.ts"

/** One batch of a thousand events, with room for what JSON adds to them. */
export const maxIntakeBytes = 16 * 1024 * 1024

const Events = Schema.Struct({
  events: Schema.NonEmptyArray(ReportedEvent).check(Schema.isMaxLength(maxEventsPerCall))
}).annotate({ identifier: "ReportedEvents" })

const IntakeResult = Schema.Struct({
  index: Schema.Int.annotate({ description: "Place in the call, from 0." }),
  result: Schema.Literals(["accepted", "duplicate", "error"]),
  eventId: Schema.optionalKey(Schema.String),
  shipmentId: Schema.optionalKey(Schema.String),
  sequence: Schema.optionalKey(Schema.Int),
  errors: Schema.optionalKey(Schema.Array(ProblemFault))
}).annotate({ identifier: "IntakeResult" })

const IntakeReport = Schema.Struct({ results: Schema.Array(IntakeResult) }).annotate({ identifier: "IntakeReport" })

export const IntakeContract = contract({
  area: "intake",
  title: "Intake",
  description: "Where the carrier's own system writes. Every call is idempotent by its natural key and is one transaction.",
  endpoints: {
    reportTransitEvents: {
      method: "POST",
      path: "/v1/transit-events",
      access: "caller",
      summary: "Report transit events",
      description: "Takes one event or up to 1,000. eventId and sequence may be left out; the service assigns them, gap-free per shipment. " +
        "The same content under the same eventId again is a duplicate and changes nothing. Needs the role carrier.",
      query: {
        partial: {
          kind: "boolean",
          schema: Schema.Boolean,
          description: "Accept the good events although others are refused. Otherwise one bad event refuses the whole call.",
          default: false
        }
      },
      body: { schema: Events, maxBytes: maxIntakeBytes, itemByItem: true },
      answers: { 200: { description: "What became of each event, in their order", schema: IntakeReport } }
    }
  }
})
