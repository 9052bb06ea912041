/** What deliveries are found by: in lists, in counts, and in bulk actions on dead letters. */
import { Result, Schema } from "effect"
import { qualifiedClient } from "../../access/model/Client.ts"
import { fault, type Fault } from "../../shared/Fault.ts"
import { InstantText, parseInstant } from "../../shared/Instant.ts"
import { isUniqueId } from "../../shared/UniqueIds.ts"
import { attemptFailures } from "./AttemptOutcome.ts"
import type { DeliveryState } from "./DeliveryState.ts"

/** Outcomes of a last attempt that a filter can name. */
export const deliveryErrors = [...attemptFailures, "gone", "interrupted"] as const

export type DeliveryError = (typeof deliveryErrors)[number]

/** A host with its port, if the address names one, and the whole address, if that is asked for. */
export interface EndpointFilter {
  readonly host: string
  readonly url: string | undefined
}

export interface DeliveryFilter {
  readonly destinationId: string | undefined
  /** Only of this client's destinations that are not closed. */
  readonly client: string | undefined
  /** Only of destinations with this endpoint that are not closed. */
  readonly endpoint: EndpointFilter | undefined
  /** Only deliveries whose last attempt had this outcome, and that were not delivered, dismissed or cancelled since. */
  readonly error: string | undefined
  /** Created at or after: a store may pass over ids that begin with an earlier millisecond. */
  readonly since: number | undefined
  /** Created before: a store may pass over ids that begin more than a second later. */
  readonly until: number | undefined
}

const message = "endpoint is a host, such as tms.example or tms.example:8443, or a whole address."

/** Of subscriptions and of deliveries. */
export const EndpointText = Schema.String.check(
  Schema.isPattern(/^[^\s\p{Cc}\p{Cs}]+$/u, { message }),
  Schema.isMaxLength(2048, { message: "endpoint has at most 2048 characters." })
)

export const ErrorText = Schema.Literals(deliveryErrors).annotate({ message: `error is one of ${deliveryErrors.join(", ")}.` })

export const deliveryFilterFields = {
  subscriptionId: Schema.optionalKey(Schema.String),
  client: Schema.optionalKey(Schema.String),
  endpoint: Schema.optionalKey(EndpointText),
  error: Schema.optionalKey(ErrorText),
  since: Schema.optionalKey(InstantText),
  until: Schema.optionalKey(InstantText)
}

const Fields = Schema.Struct(deliveryFilterFields)

/** The host of an endpoint's address with its port, in lower case. The storage adapters do the same. */
export const endpointHost = (url: string): string => lowerCase(/^[^:]*:\/\/([^/?#]*)/.exec(url)?.[1] ?? "")

const lowerCase = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

export const endpointFilterOf = (text: string): EndpointFilter =>
  text.includes("://") ? { host: endpointHost(text), url: text } : { host: lowerCase(text), url: undefined }

export const hasEndpoint = ({ host, url }: EndpointFilter, endpointUrl: string): boolean =>
  url === undefined ? endpointHost(endpointUrl) === host : endpointUrl === url

const withErrors: ReadonlyArray<DeliveryState | undefined> = [undefined, "waiting", "dead"]

/** Succeeds with `undefined` where nothing can match. */
export const deliveryFilterOf = (
  { client, endpoint, error, since, subscriptionId, until }: typeof Fields.Type,
  state: DeliveryState | undefined
): Result.Result<DeliveryFilter | undefined, Fault> => {
  if (error !== undefined && !withErrors.includes(state)) {
    return Result.fail(fault(["error"], "error goes with state waiting or dead, or without a state.", "conflict"))
  }
  return Result.succeed(subscriptionId !== undefined && !isUniqueId(subscriptionId) ? undefined : {
    destinationId: subscriptionId,
    client: client === undefined ? undefined : qualifiedClient(client),
    endpoint: endpoint === undefined ? undefined : endpointFilterOf(endpoint),
    error,
    since: since === undefined ? undefined : parseInstant(since),
    until: until === undefined ? undefined : parseInstant(until)
  })
}
