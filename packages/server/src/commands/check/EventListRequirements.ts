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
  if (data.length < 2) throw new Unmet("GET /v1/events shows fewer than two events, so this could not be seen. Let this key see a shipment with a history.")
  return data
}

const expectSorted = (call: string, events: ReadonlyArray<TransitEvent>, direction: 1 | -1): void => {
  for (const [index, event] of events.entries()) {
    const before = events[index - 1]
    if (before === undefined || compareEvents(before, event) * direction < 0) continue
    throw new Unmet(`${call}: ${event.shipment.shipmentId} #${event.sequence} ${event.eventId} stands behind ${before.shipment.shipmentId} #${before.sequence} ${before.eventId}; the order is shipmentId, sequence, eventId, each once.`)
  }
}

const expectAll = (call: string, events: ReadonlyArray<TransitEvent>, fits: (event: TransitEvent) => boolean): void => {
  const strange = events.find((event) => !fits(event))
  if (strange !== undefined) throw new Unmet(`${call} gives ${strange.eventId} of ${strange.shipment.shipmentId}, ${strange.type} at ${strange.occurredAt}, which the filter leaves out.`)
}

/** Number of pages to read, of two items each, so that a few events are enough. */
const walkedPages = 4

export const eventListRequirements: ReadonlyArray<PublisherRequirement> = [
  {
    id: "events",
    sentence: "lists events as area D has them",
    find: async (publisher) => {
      const { data, page, pageSize } = await eventsPage(publisher, {})
      if (page !== 1 || pageSize !== 100) throw new Unmet(`It says page ${page} of ${pageSize}; page 1 of 100 is expected where nothing is asked for.`)
      return `${data.length} events on page 1`
    }
  },
  {
    id: "events-order",
    sentence: "orders events by shipmentId, sequence and eventId, and turns that round with order=desc",
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
    sentence: "gives every event once as the pages go by",
    find: async (publisher) => {
      const events = await someEvents(publisher)
      const walked: Array<TransitEvent> = []
      for (let page = 1; page <= Math.min(walkedPages, Math.ceil(events.length / 2)); page++) {
        const found = await eventsPage(publisher, { page, pageSize: 2 })
        if (found.page !== page || found.pageSize !== 2 || found.data.length > 2) throw new Unmet(`${found.call} says page ${found.page} of ${found.pageSize} and holds ${found.data.length}.`)
        walked.push(...found.data)
      }
      expectSorted("The pages of two", walked, 1)
      const [is, wanted] = [walked, events.slice(0, walked.length)].map((each) => each.map(({ eventId }) => eventId).join())
      if (is !== wanted || walked.length < 2) throw new Unmet(`Pages of two hold ${is}; one page holds ${wanted}.`)
      return `${walked.length} events on pages of two`
    }
  },
  {
    id: "events-filters",
    sentence: "lists what shipmentId, eventTypes, occurredFrom and occurredTo ask for",
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
        if (missing !== undefined && data.length < 500) throw new Unmet(`${call} lacks ${missing.eventId} of ${missing.shipment.shipmentId}, which fits.`)
      }
      return `four filters around ${shipmentId}`
    }
  },
  {
    id: "events-bounds",
    sentence: "refuses pages, orders and times that there cannot be",
    find: async (publisher) => {
      const queries = ["page=0", "pageSize=0", "pageSize=501", "order=sideways", "occurredFrom=yesterday", "eventTypes=NO_SUCH_TYPE"]
      for (const query of queries) expectRefusal(await publisher.call("GET", "/v1/events", { query }))
      return `refused ${queries.join(", ")}`
    }
  }
]
