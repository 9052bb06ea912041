/** Filters of deliveries, for lists, counts, and bulk actions on dead letters. */
import { Result, Schema } from "effect"
import { qualifiedClient } from "../../access/model/Client.ts"
import { fault, type Fault } from "../../shared/Fault.ts"
import { ClientIdentity } from "../../shared/Identifier.ts"
import { InstantText, parseInstant } from "../../shared/Instant.ts"
import { isUniqueId } from "../../shared/UniqueIds.ts"
import { attemptFailures } from "./AttemptOutcome.ts"
import type { DeliveryState } from "./DeliveryState.ts"

/** Outcomes of a last attempt that a filter accepts. */
const deliveryErrors = [...attemptFailures, "gone", "interrupted"] as const

/** The outcome of a last attempt that did not accept the delivery. */
export type DeliveryError = (typeof deliveryErrors)[number]

/** A host, with its port if the address has one, and the whole address if the filter is one. */
export interface EndpointFilter {
  readonly host: string
  readonly url: string | undefined
}

/** Which deliveries match; `undefined` members match all. */
export interface DeliveryFilter {
  readonly destinationId: string | undefined
  /** Qualified: only of this client's destinations, without closed ones. */
  readonly client: string | undefined
  /** Only of destinations with this endpoint, without closed ones. */
  readonly endpoint: EndpointFilter | undefined
  /** Only deliveries whose last attempt had this outcome, and that were not delivered, dismissed or cancelled since. */
  readonly error: string | undefined
  /** Created at or after this instant. A store may skip ids that begin with an earlier millisecond. */
  readonly since: number | undefined
  /** Created before this instant. A store may skip ids that begin more than a second later. */
  readonly until: number | undefined
}

const message = "endpoint is a host, such as tms.example or tms.example:8443, or a whole address."

/** An endpoint as a filter: a host such as `tms.example:8443`, or a whole address. */
export const EndpointText = Schema.String.check(
  Schema.isPattern(/^[^\s\p{Cc}\p{Cs}]+$/u, { message }),
  Schema.isMaxLength(2048, { message: "endpoint has at most 2048 characters." })
)

/** A `DeliveryError` as a filter. */
export const ErrorText = Schema.Literals(deliveryErrors).annotate({ message: `error is one of ${deliveryErrors.join(", ")}.` })

/** The members of a filter, as in queries and bodies of calls. */
export const deliveryFilterFields = {
  subscriptionId: Schema.optionalKey(Schema.String),
  client: Schema.optionalKey(ClientIdentity),
  endpoint: Schema.optionalKey(EndpointText),
  error: Schema.optionalKey(ErrorText),
  since: Schema.optionalKey(InstantText),
  until: Schema.optionalKey(InstantText)
}

const Fields = Schema.Struct(deliveryFilterFields)

/** The host of an endpoint's address with its port, in lower case. The storage adapters do the same. */
const endpointHost = (url: string): string => lowerCase(/^[^:]*:\/\/([^/?#]*)/.exec(url)?.[1] ?? "")

const lowerCase = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** The filter that a host or an address means. */
export const endpointFilterOf = (text: string): EndpointFilter =>
  text.includes("://") ? { host: endpointHost(text), url: text } : { host: lowerCase(text), url: undefined }

/** Whether an endpoint matches. */
export const hasEndpoint = ({ host, url }: EndpointFilter, endpointUrl: string): boolean =>
  url === undefined ? endpointHost(endpointUrl) === host : endpointUrl === url

const withErrors: ReadonlyArray<DeliveryState | undefined> = [undefined, "waiting", "dead"]

/** The filter of a call; `undefined` if nothing can match. Fails if `error` does not fit to `state`, or `until` to `since`. */
export const deliveryFilterOf = (
  { client, endpoint, error, since, subscriptionId, until }: typeof Fields.Type,
  state: DeliveryState | undefined
): Result.Result<DeliveryFilter | undefined, Fault> => {
  if (error !== undefined && !withErrors.includes(state)) {
    return Result.fail(fault(["error"], "error goes with state waiting or dead, or without a state.", "conflict"))
  }
  const [from, to] = [since, until].map((text) => text === undefined ? undefined : parseInstant(text))
  if (from !== undefined && to !== undefined && to <= from) return Result.fail(fault(["until"], "until must be after since.", "out_of_bounds"))
  return Result.succeed(subscriptionId !== undefined && !isUniqueId(subscriptionId) ? undefined : {
    destinationId: subscriptionId,
    client: client === undefined ? undefined : qualifiedClient(client),
    endpoint: endpoint === undefined ? undefined : endpointFilterOf(endpoint),
    error,
    since: from,
    until: to
  })
}
