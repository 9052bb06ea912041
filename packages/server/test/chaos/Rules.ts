/** Invariants that every chaos run checks, by name. */

export const rules = [
  "no event is lost",
  "every event is finally accepted",
  "every event is finally published",
  "no entry is left waiting",
  "every delivery is finally settled",
  "no delivery is a dead letter",
  "no event is refused",
  "storage failures are answered with 503, not 500",
  "every attempt of a delivery has the same body",
  "a body has the format of the interface",
  "events of a body are in order of sequence",
  "a batch is not larger than batchMaxSize",
  "an event is in one delivery per subscription",
  "an event has one sequence",
  "sequences follow the order of publication",
  "first arrivals are in order",
  "an event is sent after the previous one is accepted",
  "a receiver gets only its own events",
  "every signature verifies",
  "a subscription resumes soon after its obstacle ends",
  "no process exits unexpectedly",
  "a stopped process exits with 0",
  "Postgres does not exit unexpectedly",
  "memory is bounded",
  "no secret is logged",
  "no error is unhandled",
  "every log line is a structured entry",
  "no expected failure is logged with a stack trace",
  "log volume is bounded"
] as const

export type Rule = typeof rules[number]

/** Reports a violation and who caused it. */
export type Violated = (rule: Rule, offender: string) => void
