/** Rules of area D about deliveries. One publication is delivered to several subscriptions, and every rule looks at what came. */
import { TransitEvent } from "@waybill/core/transit-events"
import { Schema } from "effect"
import type { Post } from "../Callback.ts"
import { accepted, expectEqual, expectRepeated, expectSigned, expectSilent, expectStatus, jsonOf, read } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, sharing, should, Violation } from "../Rule.ts"
import { batchOf, eventsOf, knownEvents, type ListedEvent, patched, subscribe, type Subscribed, subscriptionPath } from "./EventShapes.ts"

interface Deliveries {
  /** What was published, as the list of events shows it. */
  readonly published: ReadonlyArray<ListedEvent>
  /** Answers its first delivery with 500. */
  readonly plain: Subscribed
  /** One event for each delivery; answers the first one with 500. */
  readonly single: Subscribed
  /** Cuts the first delivery off. */
  readonly dropped: Subscribed
  /** IN_TRANSIT only. */
  readonly typed: Subscribed
  /** The first shipment only. */
  readonly ofShipment: Subscribed
  /** IN_TRANSIT of the first shipment only. */
  readonly narrow: Subscribed
  /** IN_TRANSIT only, at another address, both since a patch. */
  readonly moved: Subscribed
  /** One event for each delivery, and two deliveries a minute. */
  readonly slow: Subscribed
  /** Refuses everything, with one attempt. */
  readonly refusing: Subscribed
  readonly paused: Subscribed
  readonly deleted: Subscribed
  readonly foreign: Subscribed | undefined
  /** The foreign shipment only. An implementation may refuse it. */
  readonly unpermitted: Subscribed | undefined
  /** What came to the paused one before it was resumed. */
  readonly whilePaused: ReadonlyArray<Post>
}

const failingFirst = (subscribed: Subscribed, failure: 500 | "drop"): Subscribed => {
  subscribed.inbox.answers((nth) => nth === 0 ? failure : 200)
  return subscribed
}

/** Waits until each of the events was accepted. */
const accepts = (context: RuleContext, { inbox }: Subscribed, events: ReadonlyArray<ListedEvent>): Promise<boolean> =>
  inbox.until(() => {
    const seen = new Set(idsIn(accepted(inbox.posts)))
    return events.every(({ eventId }) => seen.has(eventId))
  }, context.waitMillis)

/** Without judging the shape, which a rule of its own does. */
const idsIn = (posts: ReadonlyArray<Post>): ReadonlyArray<string> =>
  posts.flatMap(({ body }) => {
    try {
      const { events } = JSON.parse(Buffer.from(body).toString("utf8")) as { readonly events: ReadonlyArray<{ readonly eventId: string }> }
      return events.map(({ eventId }) => eventId)
    } catch {
      return []
    }
  })

const move = async (context: RuleContext, { id }: Subscribed): Promise<Subscribed> => {
  const inbox = context.inbox()
  const exchange = expectStatus(await patched(context, id, { endpointUrl: inbox.url, filters: { eventTypes: ["IN_TRANSIT"] } }), 200)
  return { id, inbox, exchange }
}

const deliver = async (context: RuleContext): Promise<Deliveries> => {
  const { events, clients } = context.fixtures
  const plain = failingFirst(await subscribe(context), 500)
  const single = failingFirst(await subscribe(context, { delivery: { batchMaxSize: 1 } }), 500)
  const dropped = failingFirst(await subscribe(context), "drop")
  const typed = await subscribe(context, { filters: { eventTypes: ["IN_TRANSIT"] } })
  const ofShipment = await subscribe(context, { filters: { shipmentIds: [events!.shipmentIds[0]] } })
  const narrow = await subscribe(context, { filters: { eventTypes: ["IN_TRANSIT"], shipmentIds: [events!.shipmentIds[0]] } })
  const moved = await move(context, await subscribe(context))
  const slow = await subscribe(context, { delivery: { batchMaxSize: 1, rateLimitPerMinute: 2 } })
  const refusing = await subscribe(context, { delivery: { maxAttempts: 1, initialBackoffSeconds: 1, maxBackoffSeconds: 1 } })
  refusing.inbox.answers(() => 500)
  const paused = await subscribe(context)
  expectStatus(await patched(context, paused.id, { status: "paused" }), 200)
  const deleted = await subscribe(context)
  expectStatus(await context.call("d", "DELETE", subscriptionPath(deleted.id)), 200, 202, 204)
  const foreign = clients?.other === undefined ? undefined : await subscribe(context, {}, "other")
  const unpermitted = await subscribe(context, { filters: { shipmentIds: [events!.foreignShipmentId] } }).catch(() => undefined)

  const before = new Set((await knownEvents(context)).map(({ eventId }) => eventId))
  await context.trigger("d")
  const published = (await knownEvents(context)).filter(({ eventId }) => !before.has(eventId))
  if (published.length < 2) throw new Violation(`${published.length} new events are listed after they were published; at least two are needed for this check.`)
  await Promise.all([
    accepts(context, plain, published),
    accepts(context, single, published),
    accepts(context, dropped, published),
    accepts(context, typed, published.filter(({ type }) => type === "IN_TRANSIT")),
    accepts(context, moved, published.filter(({ type }) => type === "IN_TRANSIT")),
    accepts(context, ofShipment, published.filter(({ shipment }) => shipment.shipmentId === events!.shipmentIds[0]))
  ])
  await plain.inbox.untilQuiet(context.quietMillis, context.waitMillis)
  const whilePaused = [...paused.inbox.posts]
  return { published, plain, single, dropped, typed, ofShipment, narrow, moved, slow, refusing, paused, deleted, foreign, unpermitted, whilePaused }
}

/** Between the clock of the implementation and this one. */
const clockDifferenceMillis = 3_600_000

const needs = ["customer", "secret", "events", "trigger", "receiver"] as const

const about = sharing("deliveries", deliver)

const expectDelivered = (to: Subscribed, wanted: ReadonlyArray<ListedEvent>): string => {
  const seen = new Set(idsIn(accepted(to.inbox.posts)))
  const missing = wanted.find(({ eventId }) => !seen.has(eventId))
  if (missing !== undefined) throw new Violation(`${missing.shipment.shipmentId} #${missing.sequence} ${missing.type} was published, and not delivered in time.`, to.inbox.posts.at(-1))
  return `${wanted.length} events`
}

/** What does not come at all cannot come too often. */
const expectAny = async ({ inbox }: Subscribed, { waitMillis }: RuleContext): Promise<void> => {
  if (!(await inbox.until(() => inbox.posts.length > 0, waitMillis))) throw new Violation("Nothing came to the subscription.")
}

/** Expects the events of the failed delivery again. Its sentAt may be new. */
const expectRetried = (to: Subscribed, published: ReadonlyArray<ListedEvent>): string => {
  const seen = new Set(idsIn(accepted(to.inbox.posts)))
  const failed = to.inbox.posts.find(({ answer }) => answer !== 200)
  if (failed === undefined) throw new Violation("No delivery came that could be refused.")
  if (!idsIn([failed]).every((id) => seen.has(id))) throw new Violation(`A delivery that ${failed.answer === "drop" ? "was cut off" : `was answered ${failed.answer}`} did not come again.`, failed)
  return expectDelivered(to, published)
}

const expectOnly = (to: Subscribed, fits: (event: ListedEvent) => boolean, why: string): void => {
  for (const post of to.inbox.posts) {
    const unexpected = batchOf(post).events.find((event) => !fits(event))
    if (unexpected !== undefined) throw new Violation(`${unexpected.shipment.shipmentId} #${unexpected.sequence} ${unexpected.type} was delivered, although ${why}.`, post)
  }
}

export const eventDeliveryRules = rulesOf("d", "Area D, Event types and delivery", needs, [
  must("delivered", "delivers every event that is published to a subscription without filters", about(({ plain, published }) => expectDelivered(plain, published))),
  must("batch-shape", "sends batches as POST with deliveryId, sentAt and a non-empty list of events", about(({ dropped, ofShipment, plain, single, typed }) => `${eventsOf([plain, single, dropped, typed, ofShipment].flatMap(({ inbox }) => inbox.posts)).length} events`)),
  should("batch-members", "sends events with every member that the published definition requires", {
    source: "published definition of area D: required members and code lists"
  }, about(({ plain }) => {
    for (const post of plain.inbox.posts) read(Schema.Struct({ events: Schema.Array(TransitEvent) }), jsonOf(post), "The body of a delivery", post)
    return `${plain.inbox.posts.length} deliveries`
  })),
  should("sent-at", "sends the time of the delivery in sentAt", { source: "Area D: sentAt is when the publisher sent the batch" }, about(({ plain }) => {
    for (const post of plain.inbox.posts) {
      const { sentAt } = batchOf(post)
      if (Math.abs(Date.parse(sentAt) - post.at) > clockDifferenceMillis) throw new Violation(`A delivery came at ${new Date(post.at).toISOString()}, and its sentAt is ${sentAt}.`, post)
    }
    return `${plain.inbox.posts.length} deliveries`
  })),
  must("delivered-as-listed", "delivers events with the type, the sequence and the time that the list of events shows", about(({ plain, published }) => {
    for (const post of plain.inbox.posts) {
      for (const event of batchOf(post).events) {
        const listed = published.find(({ eventId }) => eventId === event.eventId)
        if (listed !== undefined) expectEqual([event.type, event.sequence, Date.parse(event.occurredAt)], [listed.type, listed.sequence, Date.parse(listed.occurredAt)], `type, sequence and occurredAt of ${event.eventId}`, post)
      }
    }
    return `${published.length} events`
  })),
  should("signed", "signs every delivery, repeated ones too, with the secret that the subscription names", {
    source: "Authentication: HMAC signing of deliveries; Standard Webhooks"
  }, about(({ dropped, plain, typed }, context) => expectSigned(context, [plain, dropped, typed].flatMap(({ inbox }) => inbox.posts)))),
  must("batch-size", "delivers at most batchMaxSize events at once", about(({ single }) => {
    const large = single.inbox.posts.find((post) => batchOf(post).events.length > 1)
    if (large !== undefined) throw new Violation(`A delivery has ${batchOf(large).events.length} events, where batchMaxSize is 1.`, large)
    return `${single.inbox.posts.length} deliveries of one event`
  })),
  must("rate-limit", "sends no more deliveries in a minute than rateLimitPerMinute", about(async ({ slow }, context) => {
    await expectAny(slow, context)
    const [first, ...others] = slow.inbox.posts
    const soon = others.filter(({ at }) => at < first!.at + 60_000)
    if (soon.length > 1) throw new Violation(`${soon.length + 1} deliveries came in a minute, where rateLimitPerMinute is 2.`, soon.at(-1))
    return `${slow.inbox.posts.length} deliveries`
  })),
  must("max-attempts", "stops repeating a refused delivery after maxAttempts, with or without the first attempt", about(async ({ refusing }, context) => {
    await expectAny(refusing, context)
    const { inbox } = refusing
    await inbox.untilQuiet(4_000, context.waitMillis)
    const attempts = new Map<string, number>()
    for (const post of inbox.posts) {
      const { deliveryId } = batchOf(post)
      attempts.set(deliveryId, (attempts.get(deliveryId) ?? 0) + 1)
      // the interface does not say whether the first attempt counts
      if (attempts.get(deliveryId)! > 2) throw new Violation(`${deliveryId} came ${attempts.get(deliveryId)} times, where maxAttempts is 1.`, post)
    }
    return `at most ${Math.max(...attempts.values())} attempts`
  })),
  must("filter-types", "delivers only events of the types in filters.eventTypes, and all of them", about(({ published, typed }) => {
    expectOnly(typed, ({ type }) => type === "IN_TRANSIT", "the filter is IN_TRANSIT")
    return expectDelivered(typed, published.filter(({ type }) => type === "IN_TRANSIT"))
  })),
  must("filter-shipments", "delivers only events of the shipments in filters.shipmentIds, and all of them", about(({ ofShipment, published }, { fixtures }) => {
    const [wanted] = fixtures.events!.shipmentIds
    expectOnly(ofShipment, ({ shipment }) => shipment.shipmentId === wanted, `the filter is ${wanted}`)
    return expectDelivered(ofShipment, published.filter(({ shipment }) => shipment.shipmentId === wanted))
  })),
  should("filter-both", "delivers only events that match both filters, and all of them", { source: "practice: a second filter selects fewer events" }, about(({ narrow, published }, { fixtures }) => {
    const fits = ({ shipment, type }: ListedEvent) => type === "IN_TRANSIT" && shipment.shipmentId === fixtures.events!.shipmentIds[0]
    expectOnly(narrow, fits, "a filter excludes it")
    return expectDelivered(narrow, published.filter(fits))
  })),
  must("patch-delivered", "delivers to the address and by the filters of the latest patch", { source: "Area D, Operations: Patch subscription" }, about(({ moved, published }) => {
    expectOnly(moved, ({ type }) => type === "IN_TRANSIT", "the filter is IN_TRANSIT since a patch")
    return expectDelivered(moved, published.filter(({ type }) => type === "IN_TRANSIT"))
  })),
  must("retried", "repeats a delivery that was answered 500", about(({ plain, published }) => expectRetried(plain, published))),
  must("retried-drop", "repeats a delivery when the connection broke before the answer", about(({ dropped, published }) => expectRetried(dropped, published))),
  must("delivery-id", "keeps the deliveryId of a delivery that it repeats, and gives every other its own", about(({ plain, single }) => {
    for (const { inbox } of [plain, single]) {
      const idOf = new Map<string, string>()
      for (const post of inbox.posts) {
        const { deliveryId, events } = batchOf(post)
        const content = events.map(({ eventId }) => eventId).join()
        expectEqual(deliveryId, idOf.get(content) ?? deliveryId, "The deliveryId of a repeated delivery", post)
        if (!idOf.has(content) && [...idOf.values()].includes(deliveryId)) throw new Violation(`${deliveryId} names two deliveries.`, post)
        idOf.set(content, deliveryId)
      }
    }
    return `${plain.inbox.posts.length + single.inbox.posts.length} deliveries`
  })),
  should("webhook-id", "keeps the webhook-id, and the body, of a delivery that it repeats", {
    source: "Standard Webhooks: the id stays the same when a message is sent again"
  }, about(({ plain }) => expectRepeated(plain.inbox.posts))),
  should("in-order", "delivers a shipment's events in the order of their sequence, in a batch too, and also when one is repeated", {
    source: "published requirements of area D: events in order and none omitted"
  }, about(({ plain, single }, { fixtures }) => {
    for (const { inbox } of [single, plain]) {
      const last = new Map<string, number>()
      for (const post of accepted(inbox.posts)) {
        for (const { sequence, shipment: { shipmentId } } of batchOf(post).events) {
          const before = last.get(shipmentId) ?? -1
          if (fixtures.events!.shipmentIds.includes(shipmentId) && sequence < before) throw new Violation(`${shipmentId} #${sequence} was delivered after #${before}.`, post)
          last.set(shipmentId, sequence)
        }
      }
    }
    return `${fixtures.events!.shipmentIds.length} shipments`
  })),
  should("paused-silent", "delivers nothing to a subscription that is paused", { source: "States and transitions: Area D subscription status" }, about(({ whilePaused }) =>
    expectSilent(whilePaused, "the subscription was paused"))),
  should("resumed", "delivers what was published while a subscription was paused, once it is active again", {
    source: "published requirements of area D: no event may be omitted"
  }, about(async ({ paused, published }, context) => {
    expectStatus(await patched(context, paused.id, { status: "active" }), 200)
    await accepts(context, paused, published)
    return expectDelivered(paused, published)
  })),
  must("deleted-silent", "delivers nothing to a subscription that was removed", about(({ deleted }) => expectSilent(deleted.inbox.posts, "the subscription was removed"))),
  must("delivered-foreign", "delivers no event of a shipment that the subscriber has no access to", {
    source: "published requirements of area D: a caller sees only shipments it is party to",
    needs: ["other", ...needs]
  }, about(({ foreign, plain, unpermitted }, { fixtures }) => {
    const { foreignShipmentId, shipmentIds } = fixtures.events!
    for (const own of unpermitted === undefined ? [plain] : [plain, unpermitted]) expectOnly(own, ({ shipment }) => shipment.shipmentId !== foreignShipmentId, "the subscriber has no access to it")
    expectOnly(foreign!, ({ shipment }) => !shipmentIds.includes(shipment.shipmentId), "another client subscribed")
    return "nothing of others"
  }))
])
