/** Rules of area D about subscriptions. */
import { compareText } from "@waybill/core"
import { eventTypes } from "@waybill/core/transit-events"
import { randomUUID } from "node:crypto"
import { callText, expectEachRefused, expectEqual, expectHidden, expectJson, expectStatus, expectUnauthorized, jsonAnswer, read, withoutEach } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, should, Violation } from "../Rule.ts"
import { expectPageHeaders, expectProblem, onSubscription, patched, subscribeOnly, Subscription, subscriptionBody, subscriptionPath, SubscriptionsPage } from "./EventShapes.ts"

const needs = ["customer", "secret"] as const
const unknownId = "00000000-0000-4000-8000-000000000000"

const got = (context: RuleContext, id: string) => jsonAnswer(context.call("d", "GET", subscriptionPath(id)), Subscription, 200)

const filters = { eventTypes: ["DELIVERED"], shipmentIds: ["WAYBILL-CHECK"] }

const creating = (context: RuleContext, body: unknown) => () => context.call("d", "POST", "/v1/subscriptions", { body })

const statusList = (context: RuleContext, query: Readonly<Record<string, string>>) =>
  jsonAnswer(context.call("d", "GET", "/v1/subscriptions", { query: { pageSize: "200", ...query } }), SubscriptionsPage, 200)

const createRules = rulesOf("d", "Area D, Operations: Create subscription", needs, [
  must("create", "creates a subscription and returns it, with an id and the status active", onSubscription(({ exchange }, context) => {
    const made = expectJson(exchange, Subscription, 200, 201)
    expectEqual([made.endpointUrl, made.status], [context.endpointUrl, "active"], "endpointUrl and status", exchange)
    return made.id
  })),
  should("create-status", "answers 201 with the subscription's address in Location", { source: "published definition of area D: 201 with Location" }, onSubscription(({ exchange, id }) => {
    expectStatus(exchange, 201)
    const location = exchange.headers.get("location")
    if (location === null || !location.endsWith(encodeURIComponent(id))) throw new Violation(`The Location header is ${location ?? "missing"}; the subscription's address is expected.`, exchange)
    return location
  })),
  must("create-filters", "keeps the filters of a subscription", async (context) => {
    const { id } = await subscribeOnly(context, { filters })
    const [{ filters: kept }, exchange] = await got(context, id)
    expectEqual([kept?.eventTypes, kept?.shipmentIds], [filters.eventTypes, filters.shipmentIds], "eventTypes and shipmentIds", exchange)
    return "kept"
  }),
  must("create-delivery", "keeps the delivery settings of a subscription", async (context) => {
    const given = { maxAttempts: 3, initialBackoffSeconds: 2, maxBackoffSeconds: 60, batchMaxSize: 7, rateLimitPerMinute: 30 }
    const { id } = await subscribeOnly(context, { delivery: given })
    const [{ delivery }, exchange] = await got(context, id)
    expectEqual(Object.keys(given).map((name) => delivery?.[name]), Object.values(given), "The delivery settings", exchange)
    return "kept"
  }),
  must("create-required", "refuses a subscription without endpointUrl or hmacSecretId", (context) =>
    expectEachRefused(withoutEach(subscriptionBody(context), ["endpointUrl", "hmacSecretId"]).map(([what, body]) => [what, creating(context, body)]))),
  must("create-url", "refuses an endpointUrl that is no URI", (context) =>
    expectEachRefused(["nowhere", "", 7].map((endpointUrl) => [`endpointUrl ${JSON.stringify(endpointUrl)}`, creating(context, { ...subscriptionBody(context), endpointUrl })]))),
  must("create-event-type", "refuses a filter with an unknown event type", (context) =>
    expectEachRefused([["NO_SUCH_TYPE", creating(context, { ...subscriptionBody(context), filters: { eventTypes: ["NO_SUCH_TYPE"] } })]])),
  must("create-event-types", "takes every event type as a filter", { source: "Area D event types" }, async (context) => {
    const { id } = await subscribeOnly(context, { filters: { eventTypes } })
    const [{ filters: kept }, exchange] = await got(context, id)
    expectEqual(kept?.eventTypes?.toSorted(), [...eventTypes].toSorted(), "eventTypes", exchange)
    return `${eventTypes.length} types`
  }),
  should("create-delivery-bounds", "refuses delivery settings below 1, and a batchMaxSize above 1000", {
    source: "published definition of area D: minimum 1, batchMaxSize at most 1000"
  }, (context) =>
    expectEachRefused([{ batchMaxSize: 0 }, { batchMaxSize: 1001 }, { maxAttempts: 0 }, { rateLimitPerMinute: 0 }, { initialBackoffSeconds: 0 }].map((delivery) =>
      [JSON.stringify(delivery), creating(context, { ...subscriptionBody(context), delivery })]))),
  should("create-unknown-members", "refuses unknown members of a subscription", {
    source: "published definition of area D: unevaluatedProperties is false"
  }, (context) => expectEachRefused([["a member that no version knows", creating(context, { ...subscriptionBody(context), waybillCheck: true })]])),
  should("create-secret", "refuses an hmacSecretId that names no stored secret", {
    source: "Authentication: each subscription names a stored secret"
  }, (context) => expectEachRefused([["an unknown hmacSecretId", creating(context, { ...subscriptionBody(context), hmacSecretId: `waybill-check-${randomUUID()}` })]])),
  must("create-malformed", "refuses a body that is not JSON", (context) =>
    expectEachRefused([["a cut-off body", () => context.call("d", "POST", "/v1/subscriptions", { text: "{\"endpointUrl\": " })]])),
  must("secret-hidden", "never shows the secret itself", { source: "Authentication: hmacSecretId refers to a stored secret" }, onSubscription(async ({ exchange: made, id }, context) => {
    const bare = context.fixtures.webhook!.secret.replace(/^whsec_/u, "")
    for (const exchange of [made, (await got(context, id))[1], (await statusList(context, {}))[1]]) {
      if (exchange.text.includes(bare)) throw new Violation(`${callText(exchange)} shows the signing secret.`, exchange)
    }
    return "hidden"
  }))
])

const readRules = rulesOf("d", "Area D, Operations: Retrieve and list subscriptions", needs, [
  must("get", "returns a subscription as it was created", async (context) => {
    const { exchange: made, id } = await subscribeOnly(context, { filters })
    const before = read(Subscription, made.json, "The subscription", made)
    const [now, exchange] = await got(context, id)
    for (const member of ["id", "endpointUrl", "status", "createdAt"] as const) expectEqual(now[member], before[member], member, exchange)
    return id
  }),
  must("list", "lists subscriptions by id, on numbered pages", async (context) => {
    const made = [(await subscribeOnly(context)).id, (await subscribeOnly(context)).id]
    const found: Array<string> = []
    for (const page of [1, 2]) {
      const [listed, exchange] = await statusList(context, { page: String(page), pageSize: "1" })
      expectEqual([listed.page, listed.pageSize, listed.data.length], [page, 1, 1], "page, pageSize and the number of subscriptions", exchange)
      found.push(listed.data[0]!.id)
      if (page === 2 && compareText(found[0]!, found[1]!) >= 0) throw new Violation(`Page 1 has ${found[0]} and page 2 ${found[1]}; ids in order, each once, are expected.`, exchange)
    }
    const [all, exchange] = await statusList(context, {})
    const missing = made.find((id) => !all.data.some((each) => each.id === id))
    if (missing !== undefined && all.data.length < 200) throw new Violation(`${missing} was just created, and is not in the list.`, exchange)
    return `${all.data.length} of them`
  }),
  must("list-order", "orders a page of subscriptions by id, and counts all of them in totalCount and totalPages, if it gives them", async (context) => {
    for (let made = 0; made < 2; made++) await subscribeOnly(context)
    const [{ data, totalCount, totalPages }, exchange] = await statusList(context, {})
    const at = data.findIndex(({ id }, index) => index > 0 && compareText(data[index - 1]!.id, id) >= 0)
    if (at > 0) throw new Violation(`${data[at]!.id} is listed after ${data[at - 1]!.id}.`, exchange)
    // more than a page of them are counted elsewhere
    if (data.length < 200) expectEqual([totalCount ?? data.length, totalPages ?? 1], [data.length, 1], "totalCount and totalPages", exchange)
    return `${data.length} of them in order`
  }),
  must("list-page-headers", "gives paging information of the list of subscriptions in headers too", { needs: ["customer"] }, async (context) => expectPageHeaders((await statusList(context, {}))[1])),
  must("list-default", "lists active subscriptions by default, with page 1 and pageSize 50", onSubscription(async ({ id }, context) => {
    expectStatus(await patched(context, id, { status: "paused" }), 200)
    const [listed, exchange] = await jsonAnswer(context.call("d", "GET", "/v1/subscriptions"), SubscriptionsPage, 200)
    expectEqual([listed.page, listed.pageSize], [1, 50], "page and pageSize without parameters", exchange)
    if (listed.data.some(({ status }) => status !== "active")) throw new Violation("The list without a status shows a subscription that is not active.", exchange)
    return `${listed.data.length} active ones`
  })),
  must("list-status", "lists only subscriptions with the status that is asked for", onSubscription(async ({ id }, context) => {
    expectStatus(await patched(context, id, { status: "inactive" }), 200)
    const [{ data }, exchange] = await statusList(context, { status: "inactive" })
    if (!data.some((each) => each.id === id)) throw new Violation(`${id} is inactive, and is not in the list of inactive ones.`, exchange)
    if (data.some(({ status }) => status !== "inactive")) throw new Violation("The list of inactive ones shows another.", exchange)
    return `${data.length} inactive`
  })),
  must("list-bounds", "refuses a page below 1, a pageSize above 200, and an unknown status", { needs: ["customer"] }, (context) =>
    expectEachRefused([{ page: "0" }, { pageSize: "0" }, { pageSize: "201" }, { status: "asleep" }].map((query: Readonly<Record<string, string>>) =>
      [new URLSearchParams(query).toString(), () => context.call("d", "GET", "/v1/subscriptions", { query })]))),
  should("unknown-subscription", "answers 404 for an unknown subscription", { needs: ["customer"] }, async (context) => {
    const id = randomUUID()
    for (const method of ["GET", "DELETE"]) expectStatus(await context.call("d", method, subscriptionPath(id)), 404)
    expectStatus(await patched(context, id, { status: "paused" }), 404)
    return "404 for GET, PATCH and DELETE"
  })
])

const changeRules = rulesOf("d", "Area D, Operations: Patch subscription; States and transitions", needs, [
  must("patch", "changes only the members that a merge patch names", async (context) => {
    const { id } = await subscribeOnly(context, { filters, delivery: { batchMaxSize: 7 } })
    expectStatus(await patched(context, id, { filters: { eventTypes: ["PICKED_UP"] } }), 200)
    const [{ delivery, ...now }, exchange] = await got(context, id)
    expectEqual(
      [now.status, now.filters?.eventTypes, now.filters?.shipmentIds, now.endpointUrl, delivery?.["batchMaxSize"]],
      ["active", ["PICKED_UP"], filters.shipmentIds, context.endpointUrl, 7],
      "status, eventTypes, shipmentIds, endpointUrl and batchMaxSize",
      exchange
    )
    return "changed eventTypes alone"
  }),
  must("patch-null", "removes a member that a merge patch sets to null, and keeps the others", { source: "Patch subscription: JSON Merge Patch" }, async (context) => {
    const { id } = await subscribeOnly(context, { filters })
    expectStatus(await patched(context, id, { filters: { shipmentIds: null } }), 200)
    const [now, exchange] = await got(context, id)
    // no filter and an empty one both match everything
    expectEqual([now.filters?.eventTypes, now.filters?.shipmentIds ?? []], [filters.eventTypes, []], "eventTypes and shipmentIds", exchange)
    return "removed shipmentIds alone"
  }),
  must("patch-answer", "returns the changed subscription", onSubscription(async ({ id }, context) => {
    const [now, exchange] = await jsonAnswer(patched(context, id, { delivery: { batchMaxSize: 9 } }), Subscription, 200)
    expectEqual([now.id, now.delivery?.["batchMaxSize"]], [id, 9], "id and batchMaxSize", exchange)
    return id
  })),
  must("patch-status", "takes each of the three statuses", onSubscription(async ({ id }, context) => {
    for (const status of ["paused", "inactive", "active"]) {
      expectStatus(await patched(context, id, { status }), 200)
      const [now, exchange] = await got(context, id)
      expectEqual(now.status, status, "status", exchange)
    }
    return "paused, inactive, active"
  })),
  should("patch-keeps-status", "leaves a paused subscription paused when a patch names no status", {
    source: "Patch subscription: only supplied fields change"
  }, onSubscription(async ({ id }, context) => {
    expectStatus(await patched(context, id, { status: "paused" }), 200)
    expectStatus(await patched(context, id, { filters: { eventTypes: ["DELIVERED"] } }), 200)
    const [now, exchange] = await got(context, id)
    expectEqual(now.status, "paused", "status", exchange)
    return "paused"
  })),
  must("patch-invalid", "refuses a patch with an invalid value, and changes nothing", onSubscription(async ({ id }, context) => {
    const refused = await expectEachRefused([{ status: "asleep" }, { endpointUrl: "nowhere" }, { filters: { eventTypes: ["NO_SUCH_TYPE"] } }, { delivery: { batchMaxSize: "many" } }].map((body) => [JSON.stringify(body), () => patched(context, id, body)]))
    const [now, exchange] = await got(context, id)
    expectEqual([now.status, now.endpointUrl], ["active", context.endpointUrl], "status and endpointUrl", exchange)
    return refused
  })),
  should("patch-bounds", "refuses a patch with delivery settings below 1, unknown members, or an hmacSecretId that names no stored secret", {
    source: "published definition of area D: minimum 1, unevaluatedProperties is false; Authentication: each subscription names a stored secret"
  }, onSubscription(({ id }, context) =>
    expectEachRefused([{ delivery: { batchMaxSize: 0 } }, { waybillCheck: true }, { hmacSecretId: `waybill-check-${randomUUID()}` }].map((body) => [JSON.stringify(body), () => patched(context, id, body)])))),
  must("delete", "removes a subscription", { source: "Area D, Operations: Delete subscription" }, onSubscription(async ({ id }, context) => {
    expectStatus(await context.call("d", "DELETE", subscriptionPath(id)), 200, 202, 204)
    expectStatus(await context.call("d", "GET", subscriptionPath(id)), 404, 410)
    const [{ data }, exchange] = await statusList(context, {})
    if (data.some((each) => each.id === id)) throw new Violation(`${id} was removed, and is still in the list.`, exchange)
    return "removed"
  })),
  should("delete-status", "answers a delete with 204 and no body", { source: "published definition of area D: 204" }, onSubscription(async ({ id }, context) => {
    const exchange = expectStatus(await context.call("d", "DELETE", subscriptionPath(id)), 204)
    expectEqual(exchange.text, "", "The body", exchange)
    return "204"
  }))
])

const accessRules = rulesOf("d", "Authentication; published definition of area D: each call carries credentials", ["customer"], [
  should("subscriptions-unauthenticated", "refuses calls about subscriptions without valid credentials with 401", { needs: ["secret"] }, (context) =>
    expectUnauthorized(
      (as) => context.call("d", "GET", "/v1/subscriptions", { as }),
      (as) => context.call("d", "POST", "/v1/subscriptions", { as, body: subscriptionBody(context) }),
      (as) => context.call("d", "GET", subscriptionPath(unknownId), { as }),
      (as) => patched(context, unknownId, { status: "paused" }, as),
      (as) => context.call("d", "DELETE", subscriptionPath(unknownId), { as })
    )),
  must("subscriptions-foreign", "shows and changes no subscription of another client", { needs: ["customer", "other", "secret"] }, onSubscription(async ({ id }, context) => {
    const path = subscriptionPath(id)
    expectHidden(await context.call("d", "GET", path, { as: "other" }))
    expectHidden(await patched(context, id, { status: "paused" }, "other"))
    expectHidden(await context.call("d", "DELETE", path, { as: "other" }))
    const list = await context.call("d", "GET", "/v1/subscriptions", { as: "other", query: { pageSize: "200" } })
    if (list.text.includes(id)) throw new Violation(`The list of another client shows ${id}.`, list)
    const [now, exchange] = await got(context, id)
    expectEqual(now.status, "active", "status", exchange)
    return "hidden"
  })),
  must("error-body", "explains a refused delete in the error body of area D", { source: "Errors: Area D error body" }, async (context) => {
    const exchange = expectStatus(await context.call("d", "DELETE", subscriptionPath(randomUUID())), 400, 403, 404)
    expectProblem(exchange)
    return String(exchange.status)
  }),
  should("error-media-type", "answers errors as application/problem+json, and explains each fault", {
    source: "published definition of area D: application/problem+json"
  }, async (context) => {
    for (const exchange of [await context.call("d", "GET", subscriptionPath(randomUUID())), await context.call("d", "POST", "/v1/subscriptions", { body: {} })]) {
      expectStatus(exchange, 400, 404, 422)
      expectProblem(exchange)
      const type = exchange.headers.get("content-type") ?? "none"
      if (!/^application\/problem\+json\b/iu.test(type)) throw new Violation(`${callText(exchange)} answered ${exchange.status} with the content type ${type}; application/problem+json is expected.`, exchange)
    }
    return "application/problem+json"
  })
])

export const eventSubscriptionRules = [...createRules, ...readRules, ...changeRules, ...accessRules]
