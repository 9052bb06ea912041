/** Shapes of a publisher's responses and deliveries, as area D defines them. */
import { verifyDelivery, WebhookSecretUnusable } from "@waybill/client"
import { EventBatch, SubscriptionFilters, SubscriptionStatus, TransitEvent, TransitSubscription } from "@waybill/core"
import { Exit, Schema } from "effect"
import type { Post } from "./Callback.ts"
import { type ApiAnswer, answerText, Unmet } from "./Publisher.ts"

/** Contains required members only: a publisher may return the secret's name and the delivery settings, or not. */
export const Subscription = Schema.Struct({
  id: Schema.String.check(Schema.isMinLength(1)),
  endpointUrl: TransitSubscription.fields.endpointUrl,
  hmacSecretId: Schema.optionalKey(Schema.String),
  filters: Schema.optionalKey(SubscriptionFilters),
  delivery: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  createdAt: TransitSubscription.fields.createdAt,
  updatedAt: TransitSubscription.fields.updatedAt,
  status: SubscriptionStatus
})

const pageOf = <S extends Schema.Top>(item: S) =>
  Schema.Struct({
    data: Schema.Array(item),
    page: Schema.Int,
    pageSize: Schema.Int,
    totalPages: Schema.optionalKey(Schema.NullOr(Schema.Int)),
    totalCount: Schema.optionalKey(Schema.NullOr(Schema.Int))
  })

export const EventsPage = pageOf(TransitEvent)
export const SubscriptionsPage = pageOf(Subscription)

const text = Schema.optionalKey(Schema.String)

const Problem = Schema.Struct({
  status: Schema.Int,
  title: Schema.String,
  detail: text,
  instance: text,
  code: text,
  errors: Schema.optionalKey(Schema.Array(Schema.Struct({ detail: text, pointer: text, parameter: text, header: text, code: text })))
})

/** Decodes the value. Throws `Unmet` with the location of a mismatch. */
export const read = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: unknown, what: string): S["Type"] => {
  const exit = Schema.decodeUnknownExit(schema)(value, { errors: "all" })
  if (Exit.isSuccess(exit)) return exit.value
  const reason = exit.cause.reasons[0]
  const error = reason !== undefined && "error" in reason ? reason.error : exit.cause
  throw new Unmet(`${what} is not as area D defines it: ${String(error instanceof Error ? error.message : error).replaceAll(/\s+/g, " ").slice(0, 500)}.`)
}

export const expectStatus = (answer: ApiAnswer, ...wanted: ReadonlyArray<number>): ApiAnswer => {
  if (!wanted.includes(answer.status)) throw new Unmet(`${answerText(answer)}; ${wanted.join(" or ")} is expected.`)
  return answer
}

/** Expects a refusal that blames the request. */
export const expectRefusal = (answer: ApiAnswer): ApiAnswer => expectStatus(answer, 400, 422)

/** Expects the error body of area D. */
export const expectProblem = (answer: ApiAnswer): void => {
  const type = answer.headers.get("content-type") ?? "none"
  if (!/^application\/problem\+json\b/i.test(type)) throw new Unmet(`${answer.call} answered ${answer.status} with the content type ${type}; application/problem+json is expected.`)
  const { status } = read(Problem, answer.json, `The error body of ${answer.call}`)
  if (status !== answer.status) throw new Unmet(`${answer.call} answered ${answer.status}, and its body says ${status}.`)
}

export const batchOf = (post: Post): EventBatch => {
  const type = post.headers["content-type"] ?? "none"
  if (post.method !== "POST") throw new Unmet(`A delivery came as ${post.method}; POST is expected.`)
  if (!/^application\/json\b/i.test(type)) throw new Unmet(`A delivery came with the content type ${type}; application/json is expected.`)
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(post.body).toString("utf8"))
  } catch {
    throw new Unmet("The body of a delivery is not JSON.")
  }
  return read(EventBatch, json, "The body of a delivery")
}

export const eventsOf = (posts: ReadonlyArray<Post>): ReadonlyArray<TransitEvent> => posts.flatMap((post) => batchOf(post).events)

/** Expects a valid Standard Webhooks signature at the time of receipt. */
export const expectSigned = async ({ at, body, headers }: Post, secrets: ReadonlyArray<string>): Promise<void> => {
  try {
    await verifyDelivery({ secrets, headers, body, now: new Date(at) })
  } catch (error) {
    if (error instanceof WebhookSecretUnusable) throw error
    throw new Unmet(`The signature of a delivery is invalid: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Compares by code points, as area D sorts; blanks and capitals included. */
export const compareText = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

export const compareEvents = (one: TransitEvent, other: TransitEvent): number =>
  compareText(one.shipment.shipmentId, other.shipment.shipmentId) || one.sequence - other.sequence || compareText(one.eventId, other.eventId)
