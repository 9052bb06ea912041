/** Text output of deliveries. */
import type { Delivery, DeliveryAttempt, DeliveryInFull } from "@waybill/client"
import { counted } from "./Output.ts"
import { printable } from "../../Printable.ts"

/** `http_5xx 503`, `timeout`, `accepted 200`. */
export const outcomeOf = ({ outcome, status }: DeliveryAttempt): string => status === null ? outcome : `${outcome} ${status}`

/** The next attempt, or the final state. */
const endOf = ({ attempts, nextAttemptAt, state }: Delivery): string => {
  const last = attempts.at(-1)
  const text = last === undefined ? "no attempt yet" : `${counted(attempts.length, "attempt")}, last ${outcomeOf(last)}`
  return state === "waiting" && nextAttemptAt !== null ? `${text}, next ${nextAttemptAt}` : text
}

export const deliveryRow = (delivery: Delivery): ReadonlyArray<string> =>
  [delivery.deliveryId, delivery.state, delivery.createdAt, `of ${delivery.subscriptionId}`, counted(delivery.events, "entry", "entries"), endOf(delivery)].map(printable)

/** All details of one delivery. The body comes last, exactly as sent. */
export const deliveryText = (delivery: DeliveryInFull): string =>
  printable([
    `Delivery ${delivery.deliveryId} is ${delivery.state}${delivery.settledAt === null ? "" : ` since ${delivery.settledAt}`}.`,
    ...(delivery.reason === null ? [] : [`  reason        ${delivery.reason}`]),
    `  subscription  ${delivery.subscriptionId}`,
    `  endpoint now  ${delivery.endpointUrl}`,
    `  created       ${delivery.createdAt}`,
    ...(delivery.nextAttemptAt === null ? [] : [`  next attempt  ${delivery.nextAttemptAt}`]),
    `  entries       ${delivery.events}`,
    ...delivery.attempts.flatMap((attempt) => [
      `  attempt ${attempt.attempt}     ${attempt.at}, ${attempt.durationMillis} ms: ${outcomeOf(attempt)}${attempt.detail === null ? "" : `, ${attempt.detail}`}`,
      ...(attempt.answer === null || attempt.answer === "" ? [] : [`                ${oneLine(attempt.answer)}`])
    ]),
    "",
    delivery.body
  ].join("\n"))

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 300)
