/** Requirements for a publisher's list of events. */
import type { TransitEvent } from "@waybill/core"
import { type Publisher, type PublisherRequirement, Unmet } from "./Publisher.ts"
import { compareEvents, EventsPage, expectRefusal, expectStatus, read } from "./PublisherShapes.ts"

const eventsPage = async (publisher: Publisher, query: Readonly<Record<string, string | number>>) => {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
  const answer = expectStatus(await publisher.call("GET", "/v1/events", text === "" ? {} : { query: text }), 200)
  return { ...read(EventsPage, answer.json, `The page of ${answer.call}`), call: answer.call }
}

/** Some visible events, for comparison. */
const someEvents = async (publisher: Publisher): Promise<ReadonlyArray<TransitEvent>> => {
  const { data } = await eventsPage(publisher, { pageSize: 100 })
  if (data.length < 2) throw new Unmet("GET /v1/events shows fewer than two events, so this could not be checked. Give this key access to a shipment with several events.")
  return data
}

const expectSorted = (call: string, events: ReadonlyArray<TransitEvent>, direction: 1 | -1): void => {
  for (const [index, event] of events.entries()) {
    const before = events[index - 1]
    if (before === undefined || compareEvents(before, event) * direction < 0) continue
    throw new Unmet(`${call}: ${event.shipment.shipmentId} #${event.sequence} ${event.eventId} comes after ${before.shipment.shipmentId} #${before.sequence} ${before.eventId}; the order is shipmentId, sequence, eventId, each once.`)
  }
}

const expectAll = (call: string, events: ReadonlyArray<TransitEvent>, fits: (event: TransitEvent) => boolean): void => {
  const unexpected = events.find((event) => !fits(event))
  if (unexpected !== undefined) throw new Unmet(`${call} gives ${unexpected.eventId} of ${unexpected.shipment.shipmentId}, ${unexpected.type} at ${unexpected.occurredAt}, which does not match the filter.`)
}

/** Number of pages to read, of two items each, so that a few events are enough. */
const maxPages = 4

export const eventListRequirements: ReadonlyArray<PublisherRequirement> = [
  {
    id: "events",
    sentence: "lists events as area D defines them",
    find: async (publisher) => {
      const { data, page, pageSize } = await eventsPage(publisher, {})
      if (page !== 1 || pageSize !== 100) throw new Unmet(`It says page ${page} of ${pageSize}; without parameters, page 1 with pageSize 100 is expected.`)
      return `${data.length} events on page 1`
    }
  },
  {
    id: "events-order",
    sentence: "orders events by shipmentId, sequence and eventId, and in reverse with order=desc",
    find: async (publisher) => {
      const events = await someEvents(publisher)
      expectSorted("GET /v1/events", events, 1)
      const { call, data } = await eventsPage(publisher, { order: "desc", pageSize: 100 })
      expectSorted(call, data, -1)
      return `${events.length} in order`
    }
  },
  {
    id: "events-pages",
    sentence: "lists every event once across pages",
    find: async (publisher) => {
      const events = await someEvents(publisher)
      const listed: Array<TransitEvent> = []
      for (let page = 1; page <= Math.min(maxPages, Math.ceil(events.length / 2)); page++) {
        const found = await eventsPage(publisher, { page, pageSize: 2 })
        if (found.page !== page || found.pageSize !== 2 || found.data.length > 2) throw new Unmet(`${found.call} says page ${found.page} of ${found.pageSize} and contains ${found.data.length}.`)
        listed.push(...found.data)
      }
      expectSorted("The pages of two", listed, 1)
      const [is, wanted] = [listed, events.slice(0, listed.length)].map((each) => each.map(({ eventId }) => eventId).join())
      if (is !== wanted || listed.length < 2) throw new Unmet(`Pages of two contain ${is}; one page contains ${wanted}.`)
      return `${listed.length} events on pages of two`
    }
  },
  {
    id: "events-filters",
    sentence: "filters by shipmentId, eventTypes, occurredFrom and occurredTo",
    find: async (publisher) => {
      const events = await someEvents(publisher)
      const { occurredAt, shipment: { shipmentId }, type } = events[Math.floor(events.length / 2)]!
      const at = Date.parse(occurredAt)
      const filters: ReadonlyArray<readonly [Readonly<Record<string, string>>, (event: TransitEvent) => boolean]> = [
        [{ shipmentId }, (event) => event.shipment.shipmentId === shipmentId],
        [{ shipmentId, eventTypes: type }, (event) => event.shipment.shipmentId === shipmentId && event.type === type],
        [{ occurredFrom: occurredAt }, (event) => Date.parse(event.occurredAt) >= at],
        [{ occurredTo: occurredAt }, (event) => Date.parse(event.occurredAt) < at]
      ]
      for (const [query, fits] of filters) {
        const { call, data } = await eventsPage(publisher, { ...query, pageSize: 500 })
        expectAll(call, data, fits)
        const missing = events.filter(fits).find(({ eventId }) => !data.some((event) => event.eventId === eventId))
        if (missing !== undefined && data.length < 500) throw new Unmet(`${call} lacks ${missing.eventId} of ${missing.shipment.shipmentId}, which matches the filter.`)
      }
      return `four filters around ${shipmentId}`
    }
  },
  {
    id: "events-bounds",
    sentence: "refuses invalid pages, orders and times",
    find: async (publisher) => {
      const queries = ["page=0", "pageSize=0", "pageSize=501", "order=sideways", "occurredFrom=yesterday", "eventTypes=NO_SUCH_TYPE"]
      for (const query of queries) expectRefusal(await publisher.call("GET", "/v1/events", { query }))
      return `refused ${queries.join(", ")}`
    }
  }
]
