/** Requirements for a publisher's deliveries. Each one subscribes, triggers events, and inspects the deliveries. */
import type { TransitEvent } from "@waybill/core"
import { counted } from "../shared/Output.ts"
import type { Post } from "./Callback.ts"
import { pathOf, type Publisher, type PublisherRequirement, type Subscribed, Unmet } from "./Publisher.ts"
import { batchOf, EventsPage, eventsOf, expectSigned, expectStatus, read } from "./PublisherShapes.ts"

const deliveryIdOf = (post: Post): string => batchOf(post).deliveryId

const taken = (posts: ReadonlyArray<Post>): ReadonlyArray<Post> => posts.filter(({ answer }) => answer === 200)

/** Lets the first delivery fail in this way and accepts all later ones. Returns the attempts of the first. */
const retried = async (publisher: Publisher, failure: 500 | "drop"): Promise<ReadonlyArray<Post>> => {
  const subscribed = await publisher.subscribe()
  subscribed.inbox.answers((nth) => nth === 0 ? failure : 200)
  const againOf = ([first, ...others]: ReadonlyArray<Post>) => others.filter((post) => isSame(post, first!))
  const posts = await publisher.arrivals(subscribed, (all) => againOf(all).length > 0)
  const again = againOf(posts)
  if (again.length === 0) {
    throw new Unmet(`A delivery that ${failure === "drop" ? "was cut off" : "was answered 500"} was not repeated within ${publisher.options.waitMillis / 1000} s, with initialBackoffSeconds 1.`)
  }
  return [posts[0]!, ...again]
}

const eventIdsOf = (post: Post): string => batchOf(post).events.map(({ eventId }) => eventId).join()

/** Compares deliveries by id, or by events when the ids differ. */
const isSame = (one: Post, other: Post): boolean => {
  const id = one.headers["webhook-id"]
  return (id !== undefined && id === other.headers["webhook-id"]) || sameEvents(one, other)
}

const sameEvents = (one: Post, other: Post): boolean => eventIdsOf(one) === eventIdsOf(other)

/** Two subscriptions with the same rights. The control subscription shows that events were published. */
const withControl = async (publisher: Publisher, settings: Parameters<Publisher["subscribe"]>[0]): Promise<{ readonly own: Subscribed; readonly control: Subscribed }> => ({
  own: await publisher.subscribe(settings),
  control: await publisher.subscribe()
})

/** Triggers events and waits until the control subscription received them. */
const moved = async (publisher: Publisher, control: Subscribed): Promise<ReadonlyArray<TransitEvent>> => {
  const before = control.inbox.posts.length
  const posts = await publisher.arrivals(control, (all) => all.length > before)
  const events = eventsOf(taken(posts.slice(before)))
  if (events.length === 0) throw new Unmet(`Nothing more was delivered within ${publisher.options.waitMillis / 1000} s, so this could not be checked. The --trigger must publish events every time.`)
  return events
}

const expectNothing = async (publisher: Publisher, { inbox }: Subscribed, since: number, why: string): Promise<void> => {
  await inbox.untilQuiet(publisher.options.quietMillis, publisher.options.waitMillis)
  const events = eventsOf(inbox.posts.slice(since))
  if (events.length > 0) throw new Unmet(`${events[0]!.shipment.shipmentId} #${events[0]!.sequence} ${events[0]!.type} was delivered, although ${why}.`)
}

export const deliveryRequirements: ReadonlyArray<PublisherRequirement> = [
  {
    id: "delivered",
    sentence: "delivers events to subscribers",
    find: async (publisher) => {
      const posts = await publisher.arrivals(await publisher.subscribe())
      return `${posts.length === 1 ? "1 delivery" : `${posts.length} deliveries`}`
    }
  },
  {
    id: "body",
    sentence: "delivers batches as area D defines them",
    find: async (publisher) => counted(eventsOf(await publisher.arrivals(await publisher.subscribe())).length, "event")
  },
  {
    id: "signed",
    sentence: "signs every delivery with the secret that the subscription names",
    find: async (publisher) => {
      const posts = await publisher.arrivals(await publisher.subscribe())
      for (const post of posts) await expectSigned(post, publisher.options.secrets)
      return `${posts.length} valid signatures`
    }
  },
  {
    id: "retry-after-error",
    sentence: "repeats a delivery that was answered 500",
    find: async (publisher) => counted((await retried(publisher, 500)).length, "attempt")
  },
  {
    id: "retry-after-drop",
    sentence: "repeats a delivery when the connection broke before the response",
    find: async (publisher) => counted((await retried(publisher, "drop")).length, "attempt")
  },
  {
    id: "stable-id",
    sentence: "keeps deliveryId, webhook-id and events of a delivery that it repeats",
    find: async (publisher) => {
      const [first, ...again] = await retried(publisher, 500) as [Post, ...Array<Post>]
      for (const post of again) {
        if (deliveryIdOf(post) !== deliveryIdOf(first)) throw new Unmet(`The deliveryId was ${deliveryIdOf(first)}, and ${deliveryIdOf(post)} the next time.`)
        if (post.headers["webhook-id"] !== first.headers["webhook-id"]) throw new Unmet(`The webhook-id was ${first.headers["webhook-id"]}, and ${post.headers["webhook-id"]} the next time.`)
        if (!sameEvents(post, first)) throw new Unmet(`The events were ${eventIdsOf(first)}, and ${eventIdsOf(post)} the next time.`)
      }
      return `${deliveryIdOf(first)}, ${counted(again.length + 1, "time")}`
    }
  },
  {
    id: "signed-again",
    sentence: "signs a repeated delivery with its new time",
    find: async (publisher) => {
      const posts = await retried(publisher, 500)
      for (const post of posts) await expectSigned(post, publisher.options.secrets)
      return counted(posts.length, "attempt")
    }
  },
  {
    id: "in-order",
    sentence: "delivers a shipment's events in the order of their sequence, also when one is repeated",
    find: async (publisher) => {
      const subscribed = await publisher.subscribe({ delivery: { batchMaxSize: 1 } })
      subscribed.inbox.answers((nth) => nth === 0 ? 500 : 200)
      const posts = await publisher.arrivals(subscribed, (all) => taken(all).some((post) => sameEvents(post, all[0]!)))
      const last = new Map<string, number>()
      let compared = 0
      for (const { sequence, shipment: { shipmentId } } of eventsOf(taken(posts))) {
        const before = last.get(shipmentId)
        if (before !== undefined && sequence < before) throw new Unmet(`${shipmentId} #${sequence} was delivered after #${before}.`)
        if (before !== undefined && sequence > before) compared += 1
        last.set(shipmentId, sequence)
      }
      if (compared === 0) throw new Unmet("No shipment had more than one event, so this could not be checked. Publish two events of one shipment.")
      return `${counted(last.size, "shipment")}, ${counted(compared + last.size, "event")}`
    }
  },
  {
    id: "batch-size",
    sentence: "delivers at most batchMaxSize events at once",
    find: async (publisher) => {
      const posts = await publisher.arrivals(await publisher.subscribe({ delivery: { batchMaxSize: 1 } }))
      const large = posts.map((post) => batchOf(post).events.length).find((length) => length > 1)
      if (large !== undefined) throw new Unmet(`A delivery has ${large} events, where batchMaxSize is 1.`)
      return `${posts.length} of one event`
    }
  },
  {
    id: "filtered",
    sentence: "delivers only events that match the subscription's filters",
    find: async (publisher) => {
      const seen = eventsOf(await publisher.arrivals(await publisher.subscribe()))
      await publisher.deleteSubscriptions()
      const { type } = seen[0]!
      const { control, own } = await withControl(publisher, { filters: { eventTypes: [type] } })
      const all = await moved(publisher, control)
      const wanted = all.filter((event) => event.type === type)
      await own.inbox.until(() => wanted.length === 0 || own.inbox.posts.length > 0, publisher.options.waitMillis)
      await own.inbox.untilQuiet(publisher.options.quietMillis, publisher.options.waitMillis)
      const got = eventsOf(taken(own.inbox.posts))
      const unexpected = got.find((event) => event.type !== type)
      if (unexpected !== undefined) throw new Unmet(`${unexpected.shipment.shipmentId} #${unexpected.sequence} ${unexpected.type} was delivered, although the filter is ${type}.`)
      const missing = wanted.find(({ eventId }) => !got.some((event) => event.eventId === eventId))
      if (missing !== undefined) throw new Unmet(`${missing.shipment.shipmentId} #${missing.sequence} ${missing.type} was not delivered, although it matches the filter.`)
      if (wanted.length === 0 || wanted.length === all.length) throw new Unmet("The events were all of one type, or of others each time, so this could not be checked. Publish events of several types.")
      return `${wanted.length} of ${all.length} events, ${type}`
    }
  },
  {
    id: "listed",
    sentence: "lists the events that it delivers",
    find: async (publisher) => {
      const events = eventsOf(await publisher.arrivals(await publisher.subscribe()))
      for (const { eventId, occurredAt, sequence, shipment, type } of events.slice(0, 5)) {
        const query = new URLSearchParams({ shipmentId: shipment.shipmentId, pageSize: "500" }).toString()
        const answer = expectStatus(await publisher.call("GET", "/v1/events", { query }), 200)
        const found = read(EventsPage, answer.json, `The page of ${answer.call}`).data.find((event) => event.eventId === eventId)
        if (found === undefined) throw new Unmet(`${eventId} of ${shipment.shipmentId} was delivered, but ${answer.call} does not list it.`)
        const [is, wanted] = [[found.type, found.sequence, Date.parse(found.occurredAt)], [type, sequence, Date.parse(occurredAt)]].map(String)
        if (is !== wanted) throw new Unmet(`${eventId} was delivered as ${wanted}, and is listed as ${is}.`)
      }
      return counted(Math.min(events.length, 5), "event")
    }
  },
  {
    id: "paused",
    sentence: "delivers nothing to a subscription that is paused",
    find: async (publisher) => {
      const { control, own } = await withControl(publisher, {})
      expectStatus(await publisher.call("PATCH", pathOf(own.id), { body: { status: "paused" } }), 200)
      const since = own.inbox.posts.length
      const events = await moved(publisher, control)
      await expectNothing(publisher, own, since, "its subscription was paused")
      return `${events.length} events were not delivered to it`
    }
  },
  {
    id: "deleted",
    sentence: "delivers nothing to a subscription that was removed",
    find: async (publisher) => {
      const { control, own } = await withControl(publisher, {})
      expectStatus(await publisher.remove(own.id), 200, 202, 204)
      const since = own.inbox.posts.length
      const events = await moved(publisher, control)
      await expectNothing(publisher, own, since, "its subscription was removed")
      return `${events.length} events were not delivered to it`
    }
  }
]
