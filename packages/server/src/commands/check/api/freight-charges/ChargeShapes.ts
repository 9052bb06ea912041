/** Shapes and calls of area E. */
import { PreliminaryFreightCharge } from "@waybill/core"
import { Schema } from "effect"
import type { Inbox, Post } from "../../Callback.ts"
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

export const ChargeList = Schema.Array(PreliminaryFreightCharge)
export type Charge = typeof PreliminaryFreightCharge.Type

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
export const withSubscription = async <A>(context: RuleContext, more: object, use: (subscribed: ChargeSubscribed) => Promise<A>, as: CallerName = "customer"): Promise<A> => {
  const subscribed = await subscribeToCharges(context, more, as)
  try {
    return await use(subscribed)
  } finally {
    await subscribed.end()
  }
}

export const chargesOf = (post: Post): ReadonlyArray<Charge> => read(ChargeList, jsonOf(post), "The body of a notification", post)
