/** Shapes and calls of area E. */
import { Schema } from "effect"
import type { Inbox, Post } from "../Callback.ts"
import type { CallerName, Exchange } from "../ApiCaller.ts"
import { callText, expectStatus, jsonOf, optional, read } from "../Expectations.ts"
import { type RuleContext, Violation } from "../Rule.ts"

const instant = Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/u, { message: "a date-time" }))

export const ChargeSubscription = Schema.Struct({
  subscriptionId: Schema.String.check(Schema.isMinLength(1)),
  status: Schema.String,
  createdAt: instant,
  updatedAt: instant,
  webhookUrl: Schema.String,
  accounts: Schema.NonEmptyArray(Schema.String),
  dataOptions: Schema.Struct({ shipmentDataType: optional(Schema.String), eventType: optional(Schema.String) }),
  frequency: optional(Schema.Literals(["real_time", "hourly", "daily"])),
  includeEventLog: optional(Schema.Boolean),
  billScope: optional(Schema.Literals(["subscribed_accounts", "all_accounts"]))
})

const object = Schema.Record(Schema.String, Schema.Unknown)
const number = optional(Schema.Finite)

/** The interface does not say which members are required, beside what the rules look at. A rule of its own holds the published list. */
const Charge = Schema.Struct({
  pfc: Schema.Struct({
    uniqueID: Schema.String,
    header: optional(Schema.Struct({ function: optional(Schema.String) })),
    date: optional(Schema.String),
    version: optional(Schema.String),
    isTest: optional(Schema.Boolean)
  }),
  payment: optional(object),
  shipmentTotals: optional(object),
  accessorials: optional(object),
  referenceNumbers: optional(object),
  origin: optional(object),
  destination: optional(object),
  billTo: optional(Schema.Struct({ account: optional(Schema.String) })),
  commodities: optional(Schema.Struct({ handlingUnits: optional(Schema.Array(object)) })),
  charges: optional(Schema.Struct({ grossCharges: number, discountAmount: number, preliminaryTotalCharges: number, currencyType: optional(Schema.String), changeLog: optional(Schema.Array(object)) }))
})

export const ChargeList = Schema.Array(Charge)
export type Charge = typeof Charge.Type

const Refusal = Schema.Struct({ code: Schema.String.check(Schema.isMinLength(1)), message: Schema.String.check(Schema.isMinLength(1)), details: optional(Schema.Record(Schema.String, Schema.Unknown)) })

/** Expects the error body of the area, with this code. */
export const expectCode = (exchange: Exchange, code: string): Exchange => {
  const refusal = read(Refusal, exchange.json, `The error body of ${callText(exchange)}`, exchange)
  if (refusal.code !== code) throw new Violation(`${callText(exchange)} answered the code ${refusal.code}; ${code} is expected.`, exchange)
  return exchange
}

export const chargePath = (id: string, more = ""): string => `/v1/subscriptions/${encodeURIComponent(id)}${more}`

export const chargeBody = (context: RuleContext, more: object = {}) => ({
  webhookUrl: context.endpointUrl,
  accounts: [context.fixtures.bills!.account],
  dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
  ...more
})

export interface ChargeSubscribed {
  readonly id: string
  readonly inbox: Inbox
  readonly exchange: Exchange
  readonly end: () => Promise<Exchange>
}

/** An account has one subscription of a client at a time, so rules end theirs. */
export const subscribeToCharges = async (context: RuleContext, more: object = {}, as: CallerName = "customer"): Promise<ChargeSubscribed> => {
  const inbox = context.inbox()
  const exchange = expectStatus(await context.call("e", "POST", "/v1/subscriptions", { as, body: { ...chargeBody(context), ...more } }), 200, 201)
  const id = (exchange.json as { readonly subscriptionId?: unknown } | undefined)?.subscriptionId
  if (typeof id !== "string") throw new Violation("The created subscription has no subscriptionId.", exchange)
  const end = () => context.call("e", "DELETE", chargePath(id), { as })
  context.afterwards(end)
  return { id, inbox, exchange, end }
}

/** Runs a rule's part while it has a subscription. */
export const withSubscription = async <A>(context: RuleContext, more: object, use: (subscribed: ChargeSubscribed) => Promise<A>): Promise<A> => {
  const subscribed = await subscribeToCharges(context, more)
  try {
    return await use(subscribed)
  } finally {
    await subscribed.end()
  }
}

export const chargesOf = (post: Post): ReadonlyArray<Charge> => read(ChargeList, jsonOf(post), "The body of a notification", post)

/** A publication changes one bill of an account three times. */
export const changes = 3

export const uniqueIdsIn = (posts: ReadonlyArray<Post>): ReadonlyArray<string> =>
  posts.flatMap(({ body }) => {
    try {
      return (JSON.parse(Buffer.from(body).toString("utf8")) as ReadonlyArray<Charge>).map(({ pfc }) => pfc.uniqueID)
    } catch {
      return []
    }
  })
