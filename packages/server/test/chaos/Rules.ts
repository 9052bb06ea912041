/** Invariants that every run checks. */

export const rules = [
  "nothing is lost",
  "everything is accepted in the end",
  "everything is published in the end",
  "nothing waits in the end",
  "every delivery is settled in the end",
  "nothing is a dead letter",
  "no event is refused",
  "trouble is answered with 503, not 500",
  "a delivery has one body",
  "a body is what the interface says",
  "a body is in order of sequence",
  "a batch is not larger than asked for",
  "an event is in one delivery of a subscription",
  "an event has one sequence",
  "sequences follow the order of publication",
  "first arrivals are in order",
  "the next waits until the one before is accepted",
  "nothing arrives where it does not belong",
  "every signature verifies",
  "a lane goes on soon after what held it is gone",
  "no process ends by itself",
  "a process that is told to stop ends with 0",
  "Postgres does not end by itself",
  "memory is bounded",
  "no secret is logged",
  "nothing is left unhandled",
  "every line of the log is an entry",
  "no stack is logged for what was foreseen",
  "the log is no flood"
] as const

export type Rule = typeof rules[number]

/** Reports a violation and who caused it. */
export type Violated = (rule: Rule, offender: string) => void
