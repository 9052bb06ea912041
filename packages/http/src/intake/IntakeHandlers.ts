/** Answers intake's calls from core's use cases. */
import { type Publication, TransitEventIntake } from "@waybill/core"
import { Effect } from "effect"
import { json } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import { bounded } from "../shared/ProblemDetails.ts"
import type { IntakeContract } from "./IntakeContract.ts"

export const IntakeHandlers = Effect.gen(function*() {
  const intake = yield* TransitEventIntake
  const handlers: HandlersOf<typeof IntakeContract> = {
    reportTransitEvents: ({ body, principal, query }) =>
      Effect.map(intake.report(principal, body, { partial: query.partial === true }), ({ results }) => json({ results: results.map(shown) }))
  }
  return handlers
})

const shown = (publication: Publication) =>
  publication.result === "refused"
    ? { index: publication.index, result: "error", errors: publication.faults.map(bounded) }
    : publication
