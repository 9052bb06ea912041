/** Rules of area D about the list of events. */
import { eventTypes, TransitEvent } from "@waybill/core/transit-events"
import { Schema } from "effect"
import type { Exchange } from "../ApiCaller.ts"
import { expectEachRefused, expectEqual, expectStatus, expectUnauthorized, read } from "../Expectations.ts"
import { making, must, type RuleContext, rulesOf, should, Violation } from "../Rule.ts"
import { compareEvents, eventsPage, expectPageHeaders, expectProblem, type ListedEvent } from "./EventShapes.ts"

const needs = ["customer", "events"] as const

const firstShipment = ({ fixtures }: RuleContext): string => fixtures.events!.shipmentIds[0]!

const eventsOfFirst = async (context: RuleContext) => {
  const [{ data }, exchange] = await eventsPage(context, { shipmentId: firstShipment(context), pageSize: "500" })
  if (data.length < 3 || new Set(data.map(({ type }) => type)).size < 2) {
    throw new Violation(`${firstShipment(context)} has ${data.length} events; at least three of two types are needed for this check.`, exchange)
  }
  return { data, exchange }
}

const onFirstEvents = making(eventsOfFirst)

/** Expects the filter to give exactly these of all events. */
const expectFiltered = async (context: RuleContext, query: Readonly<Record<string, string | ReadonlyArray<string>>>, fits: (event: ListedEvent) => boolean): Promise<string> => {
  const { data: all } = await eventsOfFirst(context)
  const [{ data }, exchange] = await eventsPage(context, { shipmentId: firstShipment(context), pageSize: "500", ...query })
  const unexpected = data.find((event) => !fits(event))
  if (unexpected !== undefined) throw new Violation(`${unexpected.eventId}, ${unexpected.type} at ${unexpected.occurredAt}, is listed and does not match the filter.`, exchange)
  const missing = all.filter(fits).find(({ eventId }) => !data.some((event) => event.eventId === eventId))
  if (missing !== undefined) throw new Violation(`${missing.eventId}, ${missing.type} at ${missing.occurredAt}, matches the filter and is not listed.`, exchange)
  return `${data.length} of ${all.length} events`
}

type Bound = "occurredFrom" | "occurredTo"

const isInTime = (event: ListedEvent, name: Bound, occurredAt: string): boolean => Date.parse(event.occurredAt) < Date.parse(occurredAt) === (name === "occurredTo")

/** A type and a bound that each exclude an event that the other includes, so that it shows when one of them is ignored. */
const filtersThatDiffer = (events: ReadonlyArray<ListedEvent>): { readonly type: ListedEvent["type"]; readonly name: Bound; readonly occurredAt: string } => {
  const [types, times] = [[...new Set(events.map(({ type }) => type))], [...new Set(events.map(({ occurredAt }) => occurredAt))]]
  const pairs = types.flatMap((type) => times.flatMap((occurredAt) => (["occurredFrom", "occurredTo"] as const).map((name) => ({ type, name, occurredAt }))))
  const differ = ({ name, occurredAt, type }: typeof pairs[number]) =>
    [true, false].every((isOfType) => events.some((event) => (event.type === type) === isOfType && isInTime(event, name, occurredAt) !== isOfType))
  return pairs.find(differ) ?? pairs[0]!
}

const expectSorted = (events: ReadonlyArray<ListedEvent>, direction: 1 | -1, exchange: Exchange): void => {
  const at = events.findIndex((event, index) => index > 0 && direction * compareEvents(events[index - 1]!, event) >= 0)
  if (at > 0) throw new Violation(`${events[at]!.shipment.shipmentId} #${events[at]!.sequence} ${events[at]!.eventId} is listed after #${events[at - 1]!.sequence} of ${events[at - 1]!.shipment.shipmentId}.`, exchange)
}

const middle = async (context: RuleContext): Promise<ListedEvent> => {
  const { data } = await eventsOfFirst(context)
  return data[Math.floor(data.length / 2)]!
}

const onMiddle = making(middle)

/** The same instant as a clock five hours behind shows it. */
const inOffset = (occurredAt: string): string => new Date(Date.parse(occurredAt) - 5 * 3_600_000).toISOString().replace("Z", "-05:00")

const refuses = (id: string, sentence: string, queries: ReadonlyArray<Readonly<Record<string, string>>>) =>
  must(id, sentence, { needs: ["customer"] }, (context) =>
    expectEachRefused(queries.map((query) => [new URLSearchParams(query).toString(), () => context.call("d", "GET", "/v1/events", { query })])))

export const eventListRules = [
  ...rulesOf("d", "Area D, Operations: List events", needs, [
    must("events", "lists events in the shape of EventsPage, with page 1 and pageSize 100 by default", async (context) => {
      const [{ data, page, pageSize }, exchange] = await eventsPage(context, {})
      expectEqual([page, pageSize], [1, 100], "page and pageSize without parameters", exchange)
      await eventsOfFirst(context)
      return `${data.length} events on page 1`
    }),
    must("events-shipment", "lists only events of the shipment that shipmentId names", (context) => expectFiltered(context, {}, (event) => event.shipment.shipmentId === firstShipment(context))),
    must("events-type", "lists only events of the type that eventTypes names", onMiddle(({ type }, context) =>
      expectFiltered(context, { eventTypes: type }, (event) => event.type === type))),
    must("events-types", "lists events of every type that eventTypes names when it is repeated", async (context) => {
      const types = [...new Set((await eventsOfFirst(context)).data.map(({ type }) => type))].slice(0, 2)
      return expectFiltered(context, { eventTypes: types }, (event) => types.includes(event.type))
    }),
    must("events-all-types", "takes every event type as a filter of the list", { source: "Area D event types" }, (context) => expectFiltered(context, { eventTypes }, () => true)),
    must("events-from", "includes events at occurredFrom, and none before", onMiddle(({ occurredAt }, context) =>
      expectFiltered(context, { occurredFrom: occurredAt }, (event) => Date.parse(event.occurredAt) >= Date.parse(occurredAt)))),
    must("events-to", "excludes events at occurredTo and after", onMiddle(({ occurredAt }, context) =>
      expectFiltered(context, { occurredTo: occurredAt }, (event) => Date.parse(event.occurredAt) < Date.parse(occurredAt)))),
    must("events-offset", "reads the offset of a time", { source: "Area D, Operations: List events: date-time" }, onMiddle(({ occurredAt }, context) =>
      expectFiltered(context, { occurredFrom: inOffset(occurredAt) }, (event) => Date.parse(event.occurredAt) >= Date.parse(occurredAt)))),
    must("events-combined", "lists only events that match every filter", onFirstEvents(({ data: all }, context) => {
      const { name, occurredAt, type } = filtersThatDiffer(all)
      return expectFiltered(context, { eventTypes: type, [name]: occurredAt }, (event) => event.type === type && isInTime(event, name, occurredAt))
    })),
    must("events-order", "orders events by shipmentId, sequence and eventId", async (context) => {
      const [{ data }, exchange] = await eventsPage(context, { pageSize: "500" })
      expectSorted(data, 1, exchange)
      const first = await eventsOfFirst(context)
      expectSorted(first.data, 1, first.exchange)
      return `${data.length} events in order`
    }),
    should("events-desc", "reverses the whole order with order=desc", { source: "published definition of area D: order applies to the whole key" }, async (context) => {
      const [{ data }, exchange] = await eventsPage(context, { pageSize: "500", order: "desc", shipmentId: firstShipment(context) })
      expectSorted(data, -1, exchange)
      expectEqual(data.length, (await eventsOfFirst(context)).data.length, "The number of events with order=desc", exchange)
      return `${data.length} events in reverse`
    }),
    must("events-pages", "lists every event once across pages, and says which page it is", onFirstEvents(async ({ data: all }, context) => {
      const listed: Array<string> = []
      let last: Exchange | undefined
      for (let page = 1; page <= Math.min(4, Math.ceil(all.length / 2)); page++) {
        const [found, exchange] = await eventsPage(context, { shipmentId: firstShipment(context), page: String(page), pageSize: "2" })
        expectEqual([found.page, found.pageSize], [page, 2], "page and pageSize", exchange)
        listed.push(...found.data.map(({ eventId }) => eventId))
        last = exchange
      }
      expectEqual(listed, all.slice(0, listed.length).map(({ eventId }) => eventId), "What pages of two list", last)
      expectEqual(listed.length >= Math.min(8, all.length), true, "Whether the pages have every event", last)
      return `${listed.length} events on pages of two`
    })),
    must("events-total", "counts the events that match in totalCount and totalPages, if it gives them", onFirstEvents(async ({ data: all }, context) => {
      const [{ totalCount, totalPages }, exchange] = await eventsPage(context, { shipmentId: firstShipment(context), pageSize: "2" })
      if (totalCount !== undefined && totalCount !== null) expectEqual(totalCount, all.length, "totalCount", exchange)
      if (totalPages !== undefined && totalPages !== null) expectEqual(totalPages, Math.ceil(all.length / 2), "totalPages", exchange)
      return `${totalCount ?? "no"} events on ${totalPages ?? "?"} pages`
    })),
    must("events-page-headers", "gives paging information in headers too", async (context) => {
      const [, exchange] = await eventsPage(context, { shipmentId: firstShipment(context), pageSize: "2" })
      return expectPageHeaders(exchange)
    }),
    should("events-members", "lists events with every member that the published definition requires", {
      source: "published definition of area D: required members and code lists"
    }, onFirstEvents(({ data, exchange }) => {
      read(Schema.Array(TransitEvent), (exchange.json as { readonly data: unknown }).data, "The list of events", exchange)
      return `${data.length} events`
    })),
    must("events-past-the-end", "answers an empty page after the last one", async (context) => {
      const [{ data }, exchange] = await eventsPage(context, { shipmentId: firstShipment(context), page: "9999" })
      expectEqual(data.length, 0, "The number of events on page 9999", exchange)
      return "empty"
    }),
    should("events-unknown-shipment", "answers an empty page or 404 for an unknown shipment", { needs: ["customer"] }, async (context) => {
      const exchange = await context.call("d", "GET", "/v1/events", { query: { shipmentId: "WAYBILL-CHECK-NO-SUCH-SHIPMENT" } })
      expectStatus(exchange, 200, 404)
      if (exchange.status === 200) expectEqual((exchange.json as { data?: unknown })?.data, [], "data", exchange)
      return String(exchange.status)
    }),
    refuses("events-page-range", "refuses a page below 1", [{ page: "0" }, { page: "-1" }, { page: "first" }]),
    refuses("events-page-size", "refuses a pageSize below 1 or above 500", [{ pageSize: "0" }, { pageSize: "501" }, { pageSize: "many" }]),
    refuses("events-order-value", "refuses an order other than asc and desc", [{ order: "sideways" }]),
    refuses("events-time-value", "refuses times that are no date-time", [{ occurredFrom: "yesterday" }, { occurredTo: "2026-13-45T00:00:00Z" }]),
    refuses("events-type-value", "refuses an unknown event type", [{ eventTypes: "NO_SUCH_TYPE" }])
  ]),
  ...rulesOf("d", "Authentication; published definition of area D: each call carries credentials", [], [
    should("events-unauthenticated", "refuses the list of events without valid credentials with 401", (context) => expectUnauthorized((as) => context.call("d", "GET", "/v1/events", { as }))),
    must("events-foreign", "lists no event of a shipment that the caller has no access to", { needs }, async (context) => {
      const shipmentId = context.fixtures.events!.foreignShipmentId
      const exchange = await context.call("d", "GET", "/v1/events", { query: { shipmentId } })
      expectStatus(exchange, 200, 403, 404)
      if (exchange.status === 200) expectEqual((exchange.json as { data?: unknown })?.data, [], `What is listed of ${shipmentId}`, exchange)
      const [all, allExchange] = await eventsPage(context, { pageSize: "500" })
      if (all.data.some((event) => event.shipment.shipmentId === shipmentId)) throw new Violation(`The list without filters shows ${shipmentId}.`, allExchange)
      return `nothing of ${shipmentId}`
    })
  ]),
  ...rulesOf("d", "Errors: Area D error body", ["customer"], [
    should("events-error-body", "explains refused lists in the error body of area D", async (context) => {
      const refused = [await context.call("d", "GET", "/v1/events", { query: { pageSize: "0" } }), await context.call("d", "GET", "/v1/events", { as: "nobody" })]
      for (const exchange of refused) {
        expectStatus(exchange, 400, 401, 403, 422)
        expectProblem(exchange)
      }
      return refused.map(({ status }) => status).join(", ")
    })
  ])
]
