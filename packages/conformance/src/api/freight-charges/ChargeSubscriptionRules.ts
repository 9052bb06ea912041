/** Rules of area E about subscriptions and the in-flight list. */
import { PreliminaryFreightCharge } from "@waybill/core/freight-charges"
import { Schema } from "effect"
import { randomUUID } from "node:crypto"
import { callText, expectEachRefused, expectEqual, expectHidden, expectJson, expectStatus, jsonAnswer, read, withoutEach } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, should, Violation } from "../Rule.ts"
import { chargeBody, ChargeList, chargePath, ChargeSubscription, expectCode, withSubscription } from "./ChargeShapes.ts"

const needs = ["customer", "bills"] as const

const creating = (context: RuleContext, body: unknown) => () => context.call("e", "POST", "/v1/subscriptions", { body })

const refusing = (values: Readonly<Record<string, ReadonlyArray<unknown>>>) => (context: RuleContext): Promise<string> =>
  expectEachRefused(Object.entries(values).flatMap(([name, given]) =>
    given.map((value) => [`${name} ${JSON.stringify(value)}`, creating(context, chargeBody(context, { [name]: value }))] as const)))

const inFlight = (context: RuleContext, id: string) => jsonAnswer(context.call("e", "GET", chargePath(id, "/inflight")), ChargeList, 200)

const createRules = rulesOf("e", "Area E, Operations: Create subscription", needs, [
  must("create", "creates a subscription and returns it with subscriptionId, status, createdAt and updatedAt", (context) =>
    withSubscription(context, {}, async ({ exchange, id }) => {
      const made = expectJson(exchange, ChargeSubscription, 200, 201)
      expectEqual([made.webhookUrl, made.accounts], [context.endpointUrl, [context.fixtures.bills!.account]], "webhookUrl and accounts", exchange)
      return id
    })),
  should("create-status", "answers a create call with 201", {
    source: "published definition of area E: 201"
  }, (context) => withSubscription(context, {}, async ({ exchange }) => String(expectStatus(exchange, 201).status))),
  must("create-defaults", "shows the defaults real_time, includeEventLog true and subscribed_accounts where it shows these members", (context) =>
    withSubscription(context, {}, async ({ exchange }) => {
      const { billScope = "subscribed_accounts", frequency = "real_time", includeEventLog = true } = expectJson(exchange, ChargeSubscription, 200, 201)
      expectEqual([frequency, includeEventLog, billScope], ["real_time", true, "subscribed_accounts"], "frequency, includeEventLog and billScope", exchange)
      return "defaults"
    })),
  must("create-options", "keeps frequency, includeEventLog and dataOptions", (context) =>
    withSubscription(context, { frequency: "daily", includeEventLog: false, dataOptions: { shipmentDataType: "revenue_impacts_only", eventType: "no_events" } }, async ({ id }) => {
      const [{ dataOptions, frequency, includeEventLog }, exchange] = await jsonAnswer(context.call("e", "GET", chargePath(id)), ChargeSubscription, 200)
      expectEqual([frequency, includeEventLog, dataOptions.shipmentDataType, dataOptions.eventType], ["daily", false, "revenue_impacts_only", "no_events"], "frequency, includeEventLog and dataOptions", exchange)
      return "kept"
    })),
  must("create-all-accounts", "takes billScope all_accounts, and shows it", (context) =>
    withSubscription(context, { billScope: "all_accounts" }, async ({ exchange }) => {
      const { billScope } = expectJson(exchange, ChargeSubscription, 200, 201)
      expectEqual(billScope, "all_accounts", "billScope", exchange)
      return "all_accounts"
    })),
  must("create-several-accounts", "keeps every account of a subscription", (context) => {
    const { account, emptyAccount } = context.fixtures.bills!
    return withSubscription(context, { accounts: [account, emptyAccount] }, async ({ id }) => {
      const [{ accounts }, exchange] = await jsonAnswer(context.call("e", "GET", chargePath(id)), ChargeSubscription, 200)
      expectEqual(accounts.toSorted(), [account, emptyAccount].toSorted(), "accounts", exchange)
      return `${accounts.length} accounts`
    })
  }),
  must("create-required", "refuses a subscription without webhookUrl, accounts or dataOptions", (context) =>
    expectEachRefused(withoutEach(chargeBody(context), ["webhookUrl", "accounts", "dataOptions"]).map(([what, body]) => [what, creating(context, body)]))),
  must("create-accounts", "refuses an empty list of accounts, and accounts that are no list of strings", refusing({ accounts: [[], "A-1", [7]] })),
  must("create-url", "refuses a webhookUrl that is no URI", refusing({ webhookUrl: ["nowhere", "", 7] })),
  must("create-frequency", "refuses a frequency other than real_time, hourly and daily", refusing({ frequency: ["weekly"] })),
  must("create-scope", "refuses a billScope other than subscribed_accounts and all_accounts", refusing({ billScope: ["everything"] })),
  must("create-event-log", "refuses an includeEventLog that is no boolean", refusing({ includeEventLog: ["yes"] })),
  must("create-malformed", "refuses a body that is not JSON", (context) => expectEachRefused([["a cut-off body", () => context.call("e", "POST", "/v1/subscriptions", { text: "{\"webhookUrl\": " })]])),
  should("create-conflict", "refuses a second subscription of a client for the same account with 409", {
    source: "published definition of area E: 409 SUBSCRIPTION_CONFLICT"
  }, (context) => withSubscription(context, {}, async () => String(expectCode(expectStatus(await creating(context, chargeBody(context))(), 409), "SUBSCRIPTION_CONFLICT").status))),
  must("create-foreign-account", "refuses a subscription to an account that is not the caller's", {
    source: "Area E: a debtor or authorized agent subscribes; published definition: 403"
  }, async (context) => {
    const { account, foreignAccount } = context.fixtures.bills!
    for (const accounts of [[foreignAccount], [account, foreignAccount]]) expectStatus(await creating(context, chargeBody(context, { accounts }))(), 400, 401, 403, 404)
    return "refused, also beside an account of the caller"
  })
])

const readRules = rulesOf("e", "Area E, Operations: Retrieve and cancel subscription", needs, [
  must("get", "returns a subscription as it was created", (context) =>
    withSubscription(context, {}, async ({ exchange: made, id }) => {
      const before = expectJson(made, ChargeSubscription, 200, 201)
      const [now, exchange] = await jsonAnswer(context.call("e", "GET", chargePath(id)), ChargeSubscription, 200)
      for (const member of ["subscriptionId", "webhookUrl", "accounts", "status", "createdAt"] as const) expectEqual(now[member], before[member], member, exchange)
      return id
    })),
  should("unknown", "answers 404 for an unknown subscription, to retrieve, to cancel and for its list", {
    source: "published definition of area E: 404 NOT_FOUND",
    needs: ["customer"]
  }, async (context) => {
    const id = randomUUID()
    for (const [method, path] of [["GET", chargePath(id)], ["DELETE", chargePath(id)], ["GET", chargePath(id, "/inflight")]] as const) expectStatus(await context.call("e", method, path), 404)
    return "404"
  }),
  must("cancel", "cancels a subscription: it is gone, or no longer active", (context) =>
    withSubscription(context, {}, async ({ end, id }) => {
      expectStatus(await end(), 200, 202, 204)
      const exchange = expectStatus(await context.call("e", "GET", chargePath(id)), 200, 404, 410)
      if (exchange.status === 200 && (exchange.json as { status?: unknown })?.status === "active") throw new Violation("The cancelled subscription is still active.", exchange)
      return String(exchange.status)
    })),
  should("cancel-status", "answers a cancel call with 204", {
    source: "published definition of area E: 204"
  }, (context) => withSubscription(context, {}, async ({ end }) => String(expectStatus(await end(), 204).status))),
  should("cancel-frees", "accepts a new subscription for the account of a cancelled one", {
    source: "published definition of area E: 409 while a subscription exists"
  }, async (context) => {
    await withSubscription(context, {}, async () => {})
    return withSubscription(context, {}, async ({ id }) => id)
  }),
  must("foreign", "shows, cancels and lists nothing of another client's subscription", {
    source: "Authentication; published definition of area E: 403 for callers who are not debtor or agent",
    needs: ["other", ...needs]
  }, (context) =>
    withSubscription(context, {}, async ({ id }) => {
      for (const [method, path] of [["GET", chargePath(id)], ["GET", chargePath(id, "/inflight")], ["DELETE", chargePath(id)]] as const) expectHidden(await context.call("e", method, path, { as: "other" }))
      expectStatus(await context.call("e", "GET", chargePath(id)), 200)
      return "hidden"
    }))
])

const inFlightRules = rulesOf("e", "Area E, Operations: List in-flight shipments", needs, [
  must("in-flight", "lists the bills in flight on the subscribed account as an array of PFC objects, each once", (context) =>
    withSubscription(context, {}, async ({ id }) => {
      const [list, exchange] = await inFlight(context, id)
      const [lettersOf, found] = [(text: string) => text.toUpperCase().replaceAll(/[^A-Z0-9]/gu, ""), new Set(list.map(({ pfc }) => pfc.uniqueID.toUpperCase().replaceAll(/[^A-Z0-9]/gu, "")))]
      const missing = context.fixtures.bills!.uniqueIDs.find((uniqueID) => !found.has(lettersOf(uniqueID)))
      if (missing !== undefined) throw new Violation(`${missing} was in flight when the subscription was created, and is not listed.`, exchange)
      expectEqual(found.size, list.length, "The number of different bills", exchange)
      return `${list.length} bills`
    })),
  should("in-flight-members", "lists PFC objects with every member that the published definition requires", {
    source: "published definition of area E: required members"
  }, (context) =>
    withSubscription(context, {}, async ({ id }) => {
      const [list, exchange] = await inFlight(context, id)
      read(Schema.Array(PreliminaryFreightCharge), exchange.json, "The list of bills", exchange)
      return `${list.length} bills`
    })),
  must("in-flight-all-accounts", "lists the bills in flight on every account of the caller, and on no other, when billScope is all_accounts", {
    source: "Area E: all_accounts is all accounts the user may access"
  }, (context) => {
    const { emptyAccount, foreignAccount, uniqueIDs } = context.fixtures.bills!
    return withSubscription(context, { accounts: [emptyAccount], billScope: "all_accounts" }, async ({ id }) => {
      const [list, exchange] = await inFlight(context, id)
      if (list.length < uniqueIDs.length) throw new Violation(`${uniqueIDs.length} bills or more are in flight on accounts of the caller, and ${list.length} are listed.`, exchange)
      const foreign = list.find(({ billTo }) => billTo?.account === foreignAccount)
      if (foreign !== undefined) throw new Violation(`${foreign.pfc.uniqueID} is a bill of ${foreignAccount}, which is not the caller's.`, exchange)
      return `${list.length} bills`
    })
  }),
  must("in-flight-account", "lists bills of the subscribed account only", { source: "Area E: shipments of the subscribed accounts; non-debtors have no access" }, (context) =>
    withSubscription(context, {}, async ({ id }) => {
      const [list, exchange] = await inFlight(context, id)
      const { account, foreignAccount } = context.fixtures.bills!
      const foreign = list.find(({ billTo }) => billTo?.account === foreignAccount)
      if (foreign !== undefined) throw new Violation(`${foreign.pfc.uniqueID} is a bill of ${foreignAccount}; ${account} is subscribed.`, exchange)
      return `${list.length} bills`
    })),
  must("in-flight-empty", "lists an empty array when nothing is in flight", (context) =>
    withSubscription(context, { accounts: [context.fixtures.bills!.emptyAccount] }, async ({ id }) => {
      const [list, exchange] = await inFlight(context, id)
      expectEqual(list.length, 0, "The number of bills", exchange)
      return "[]"
    }))
])

const errorRules = rulesOf("e", "Errors: Area E error body", needs, [
  must("unauthenticated", "refuses calls without valid credentials with 401 and the code UNAUTHORIZED", { needs: ["bills"] }, async (context) => {
    for (const as of ["nobody", "invalid"] as const) {
      expectCode(expectStatus(await context.call("e", "POST", "/v1/subscriptions", { as, body: chargeBody(context) }), 401), "UNAUTHORIZED")
      expectCode(expectStatus(await context.call("e", "POST", "/webhooks/test", { as, body: { webhookUrl: context.endpointUrl } }), 401), "UNAUTHORIZED")
      const path = chargePath(randomUUID())
      for (const [method, of] of [["GET", path], ["DELETE", path], ["GET", `${path}/inflight`]] as const) expectCode(expectStatus(await context.call("e", method, of, { as }), 401), "UNAUTHORIZED")
    }
    return "401"
  }),
  must("invalid-code", "explains an invalid body with the code INVALID_REQUEST and a message", async (context) => {
    for (const more of [{ webhookUrl: "nowhere" }, { accounts: [] }, { frequency: "weekly" }]) expectCode(expectStatus(await creating(context, chargeBody(context, more))(), 400, 422), "INVALID_REQUEST")
    return "INVALID_REQUEST"
  }),
  must("invalid-details", "names the offending field of an invalid body in details", async (context) => {
    const exchange = await creating(context, chargeBody(context, { webhookUrl: "nowhere" }))()
    const details = (exchange.json as { details?: { field?: unknown; error?: unknown } })?.details
    if (typeof details?.field !== "string" || !details.field.includes("webhookUrl") || typeof details.error !== "string") {
      throw new Violation(`The details of ${callText(exchange)} are ${JSON.stringify(details)}; field webhookUrl and an error text are expected.`, exchange)
    }
    return details.field
  }),
  should("not-found-code", "explains an unknown subscription with the code NOT_FOUND", {
    source: "published definition of area E: NOT_FOUND",
    needs: ["customer"]
  }, async (context) => String(expectCode(await context.call("e", "GET", chargePath(randomUUID())), "NOT_FOUND").status))
])

export const chargeSubscriptionRules = [...createRules, ...readRules, ...inFlightRules, ...errorRules]
