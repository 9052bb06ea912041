/** Labels for codes of the operator API. A code without a label is shown as it is. */
import type { OperatorSubscription } from "@waybill/client/operator"

export const areaNames: Readonly<Record<string, string>> = {
  "shipment-status": "Shipment status",
  "transit-events": "Transit events",
  "freight-charges": "Freight charges",
  invoices: "Invoices",
  pickups: "Pickups",
  notices: "Notices"
}

export const deliveryStates = ["waiting", "sending", "delivered", "dead", "dismissed", "cancelled"] as const

export const subscriptionStates = ["active", "paused", "inactive"] as const

export const deliveryWords: Readonly<Record<string, string>> = {
  waiting: "waiting",
  sending: "sending",
  delivered: "delivered",
  dead: "dead letter",
  dismissed: "dismissed",
  cancelled: "cancelled"
}

/** Colour of a state; the label is always shown too. */
export type Tone = "good" | "bad" | "careful" | "plain"

export const deliveryTones: Readonly<Record<string, Tone>> = { delivered: "good", dead: "bad", waiting: "careful", sending: "careful" }

/** Of attempts that were not accepted. */
const errors: Readonly<Record<string, string>> = {
  gone: "410 Gone: the receiver was removed",
  interrupted: "interrupted: the sending process stopped",
  dns: "DNS: host name not found",
  address_not_allowed: "address not allowed",
  connect_refused: "connection refused",
  connect_timeout: "connection timeout",
  tls: "TLS error",
  timeout: "timeout",
  response_too_large: "response too large",
  protocol: "invalid HTTP response",
  http_3xx: "redirect (3xx), not followed",
  http_4xx: "refused (4xx)",
  http_429: "too many requests (429)",
  http_5xx: "server error (5xx)",
  signing: "not signed: no secret"
}

export const errorChoices = Object.entries(errors)

const outcomes: Readonly<Record<string, string>> = { accepted: "accepted", ...errors }

export const deliverySettings = [
  ["maxAttempts", "Attempts before a dead letter"],
  ["initialBackoffSeconds", "Seconds before the first retry"],
  ["maxBackoffSeconds", "Longest time between retries in seconds"],
  ["batchMaxSize", "Most events in a delivery"],
  ["rateLimitPerMinute", "Most deliveries in a minute"]
] as const

export const deliveryText = ({ batchMaxSize, initialBackoffSeconds, maxAttempts, maxBackoffSeconds, rateLimitPerMinute }: OperatorSubscription["delivery"]): string =>
  `${plural(maxAttempts, "attempt")}, ${initialBackoffSeconds} to ${maxBackoffSeconds} s apart; at most ${plural(batchMaxSize, "event")} each, ${rateLimitPerMinute.toLocaleString("en-US")} a minute`

const pausers: Readonly<Record<string, string>> = { client: "by its client", service: "by the service", operator: "by the operator" }

export const pausedByText = (by: string): string => pausers[by] ?? `by ${by}`

/** What an explanation can be asked about. */
export const subjects = [["eventId", "Event id"], ["shipmentId", "Shipment id"], ["pro", "PRO number"], ["pickupId", "Pickup number or id"]] as const

const verdicts: Readonly<Record<string, string>> = {
  delivered: "Delivered: the receiver answered 2xx",
  in_flight: "In flight: an attempt is in progress",
  dead: "Dead letter: its attempts are used up, or an operator dismissed it",
  dropped: "Dropped: removed without being sent",
  not_matched: "Not matched: the subscription's filters do not select it",
  not_visible: "Not visible: the client has none of its accounts",
  before_subscription: "Stored before the subscription was created"
}

const waitReasons: Readonly<Record<string, string>> = {
  turn: "the next free worker, or the end of its window",
  order: "an earlier entry of its shipment or bill",
  rate: "the rate limit of the subscription",
  retry: "its next attempt",
  breaker: "the circuit breaker of the endpoint",
  paused: "the subscription to be resumed",
  access: "access of the client or its tenant"
}

export const verdictText = (verdict: string, waitingFor: string | null): string =>
  waitingFor === null ? verdicts[verdict] ?? verdict : `Waiting for ${waitReasons[waitingFor] ?? waitingFor}`

export const outcomeText = (outcome: string): string => outcomes[outcome] ?? outcome

/** An outcome with the status that the receiver answered, unless the words name it. */
export const attemptText = ({ outcome, status }: { readonly outcome: string; readonly status: number | null }): string => {
  const text = outcomeText(outcome)
  if (status === null || text.includes(String(status))) return text
  return text.includes("xx)") ? text.replace(/\dxx\)/, `${status})`) : `${text} (${status})`
}

/** Where the server stops counting the rows of a list. */
const mostInTotal = 10_000

/** Of all pages of a list. */
export const totalText = (total: number, one: string, many = `${one}s`): string =>
  total >= mostInTotal ? `${mostInTotal.toLocaleString("en-US")} or more ${many}` : plural(total, one, many)

/** A search of deliveries ends a page where it has passed over many others. */
export const noneText = (one: string, next: string | null | undefined): string =>
  next ? `No ${one} on this page matches. The next page searches on.` : `No ${one} matches.`

export const plural = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`

/** The host of an endpoint, with its port; other text stays unchanged. */
export const hostOf = (url: string): string => {
  const host = URL.canParse(url) ? new URL(url).host : ""
  return host === "" ? url : host
}
