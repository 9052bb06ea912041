import { describe, expect, it } from "vitest"
import { type EventQuery, TransitEventsClient, type TransitSubscription } from "../../src/transit-events/index.ts"
import { eventOf } from "../samples.ts"
import { clientsOf, json, problem } from "../scripted-server.ts"

const clientOf = clientsOf(TransitEventsClient)
const page = (data: ReadonlyArray<unknown>, more: object = {}) => ({ data, page: 1, pageSize: 2, totalPages: null, totalCount: null, ...more })
const subscription: TransitSubscription = {
  id: "sub-1",
  endpointUrl: "https://receiver.test/hook",
  hmacSecretId: "main",
  createdAt: "2026-11-20T08:00:00Z",
  updatedAt: "2026-11-20T08:00:00Z",
  status: "active"
}

describe("TransitEventsClient", () => {
  it("lists one page with every filter", async () => {
    const { client, received } = clientOf(() => json(page([eventOf("S1", 1)], { totalCount: 1, totalPages: 1 })))
    const query: Required<EventQuery> = {
      shipmentId: "S/1",
      eventTypes: ["DELAY", "DELIVERED"],
      occurredFrom: "2026-11-20T08:00:00-06:00",
      occurredTo: new Date("2026-11-21T00:00:00Z"),
      order: "desc",
      page: 3,
      pageSize: 500
    }
    expect(await client.listEvents(query)).toEqual({ data: [eventOf("S1", 1)], page: 1, pageSize: 2, totalCount: 1, totalPages: 1 })
    expect(received[0]!.path).toBe(
      "/visibility/v1/events?shipmentId=S%2F1&eventTypes=DELAY&eventTypes=DELIVERED"
        + "&occurredFrom=2026-11-20T08%3A00%3A00-06%3A00&occurredTo=2026-11-21T00%3A00%3A00.000Z&order=desc&page=3&pageSize=500"
    )
    expect(received[0]!.headers.get("x-api-key")).toBe("k")
  })

  it("uses the configured base path", async () => {
    const { client, received } = clientOf(() => json(page([])), { basePath: "/ftl" })
    await client.listEvents()
    expect(received[0]!.path).toBe("/ftl/v1/events")
  })

  it("fails when the response is not a page", async () => {
    for (const body of [{}, null, [], { data: {} }]) {
      const { client } = clientOf(() => json(body))
      await expect(client.listEvents()).rejects.toMatchObject({ reason: "unreadable_answer" })
    }
  })

  describe("iterating over all events", () => {
    const events = [1, 2, 3, 4, 5].map((sequence) => eventOf("S1", sequence))
    const next = (target: string) => ({ link: `</visibility/v1/events?page=1>; rel="first", <${target}>; rel="next"` })

    it("follows the links of the server, with their cursor, to the end", async () => {
      const { client, received } = clientOf((_, count) =>
        count === 2 ? json(page(events.slice(4)), 200, { link: "</visibility/v1/events?page=1>; rel=\"first\"" })
          : json(page(events.slice(count * 2, count * 2 + 2), { totalPages: 99 }), 200, next(`/visibility/v1/events?pageSize=2&page=${count + 2}&cursor=w1`)))
      expect(await Array.fromAsync(client.allEvents({ pageSize: 2 }))).toEqual(events)
      expect(received.map(({ path }) => path)).toEqual([
        "/visibility/v1/events?pageSize=2",
        "/visibility/v1/events?pageSize=2&page=2&cursor=w1",
        "/visibility/v1/events?pageSize=2&page=3&cursor=w1"
      ])
    })

    it.each([
      "https://evil.test/visibility/v1/events?cursor=w1",
      "http://10.0.0.7:8080/visibility/v1/events?cursor=w1",
      "//evil.test/?cursor=w1",
      "/somewhere/else?cursor=w1",
      "?cursor=w1"
    ])("never leaves the address it calls for %s", async (target) => {
      const { client, received } = clientOf((_, count) => count === 0 ? json(page(events), 200, next(target)) : json(page([])))
      await Array.fromAsync(client.allEvents())
      expect(received.map(({ url }) => url)).toEqual(["https://waybill.test/visibility/v1/events", "https://waybill.test/visibility/v1/events?cursor=w1"])
    })

    it("requests a page only when it is needed", async () => {
      const { client, received } = clientOf((_, count) => json(page(events), 200, next(`?cursor=${count}`)))
      for await (const event of client.allEvents()) if (event.sequence === 5) break
      expect(received).toHaveLength(1)
    })

    it("counts pages when a server sends totals and no links", async () => {
      const { client, received } = clientOf((_, count) => json(page(events.slice(count * 2, count * 2 + 2), { page: count + 1, totalPages: 3 })))
      expect(await Array.fromAsync(client.allEvents({ shipmentId: "S1" }))).toEqual(events)
      expect(received.map(({ path }) => path)).toEqual([
        "/visibility/v1/events?shipmentId=S1",
        "/visibility/v1/events?shipmentId=S1&page=2",
        "/visibility/v1/events?shipmentId=S1&page=3"
      ])
    })

    it.each([
      ["that is not full", events, 3],
      ["that is empty", events.slice(0, 4), 3]
    ])("ends without links or totals at a page %s", async (_, all, pages) => {
      for (const totals of [{}, { totalPages: undefined }]) {
        const { client, received } = clientOf((_, count) => json(page(all.slice(count * 2, count * 2 + 2), { page: count + 1, ...totals })))
        expect(await Array.fromAsync(client.allEvents())).toEqual(all)
        expect(received).toHaveLength(pages)
      }
    })

    it("fails on a page or link that repeats", async () => {
      const same = clientOf(() => json(page(events), 200, next("?cursor=1")))
      const unnumbered = clientOf(() => json(page(events)))
      for (const { client } of [same, unnumbered]) await expect(Array.fromAsync(client.allEvents())).rejects.toMatchObject({ reason: "unreadable_answer", message: expect.stringContaining("the same page again") })
      const broken = clientOf(() => json(page(events), 200, next("http://[")))
      await expect(Array.fromAsync(broken.client.allEvents())).rejects.toMatchObject({ reason: "unreadable_answer" })
    })

    it("fails when links lead back to an earlier page", async () => {
      const loopOf = (...cursors: ReadonlyArray<string>) => clientOf((_, count) => count < 50 ? json(page(events), 200, next(`?cursor=${cursors[count % cursors.length]}`)) : problem(401))
      for (const { client, received } of [loopOf("a", "b"), loopOf("a", "b", "c", "d", "e")]) {
        await expect(Array.fromAsync(client.allEvents())).rejects.toMatchObject({ reason: "unreadable_answer", message: expect.stringContaining("an earlier page again") })
        expect(received.length).toBeLessThan(20)
      }
    })

    it("fails at the page that fails", async () => {
      const { client } = clientOf((_, count) => count === 0 ? json(page(events), 200, next("?cursor=1")) : problem(401))
      const seen: Array<unknown> = []
      await expect((async () => {
        for await (const event of client.allEvents()) seen.push(event)
      })()).rejects.toMatchObject({ status: 401 })
      expect(seen).toEqual(events)
    })

    it("stops with the caller's signal between pages", async () => {
      const controller = new AbortController()
      const { client } = clientOf((_, count) => json(page(events), 200, next(`?cursor=${count}`)))
      await expect((async () => {
        for await (const event of client.allEvents({}, { signal: controller.signal })) if (event.sequence === 5) controller.abort(new Error("enough"))
      })()).rejects.toThrow("enough")
    })
  })

  it("lists subscriptions, by status or all of them", async () => {
    const { client, received } = clientOf(() => json(page([subscription])))
    expect((await client.listSubscriptions({ status: "paused", page: 2, pageSize: 10 })).data).toEqual([subscription])
    expect(await Array.fromAsync(client.allSubscriptions())).toEqual([subscription])
    expect(received.map(({ path }) => path)).toEqual(["/visibility/v1/subscriptions?status=paused&page=2&pageSize=10", "/visibility/v1/subscriptions"])
  })

  it("creates a subscription", async () => {
    const { client, received } = clientOf(() => json(subscription, 201, { location: "https://waybill.test/visibility/v1/subscriptions/sub-1" }))
    const wanted = { endpointUrl: "https://receiver.test/hook", hmacSecretId: "main", filters: { eventTypes: ["DELIVERED"] }, delivery: { batchMaxSize: 50 } }
    expect(await client.createSubscription(wanted)).toEqual(subscription)
    expect(received[0]).toMatchObject({ method: "POST", path: "/visibility/v1/subscriptions", body: wanted })
    expect(received[0]!.headers.get("content-type")).toBe("application/json")
  })

  it("never retries a creation", async () => {
    for (const answer of [() => problem(503), () => Promise.reject(new TypeError("lost"))]) {
      const { client, received } = clientOf(answer)
      await expect(client.createSubscription({ endpointUrl: "https://r.test", hmacSecretId: "main" })).rejects.toThrow()
      expect(received).toHaveLength(1)
    }
  })

  it("gets one by its id", async () => {
    const { client, received } = clientOf(() => json(subscription))
    expect(await client.getSubscription("a/b")).toEqual(subscription)
    expect(received[0]).toMatchObject({ method: "GET", path: "/visibility/v1/subscriptions/a%2Fb" })
    await expect(client.getSubscription("")).rejects.toThrow(TypeError)
  })

  it("patches by merge patch, null included, without retries", async () => {
    const { client, received } = clientOf((_, count) => count === 0 ? json(subscription) : problem(503))
    const patch = { status: "paused", filters: null, delivery: { maxAttempts: null, batchMaxSize: 10 } } as const
    expect(await client.updateSubscription("sub-1", patch)).toEqual(subscription)
    expect(received[0]).toMatchObject({ method: "PATCH", path: "/visibility/v1/subscriptions/sub-1", body: patch })
    expect(received[0]!.headers.get("content-type")).toBe("application/merge-patch+json")
    await expect(client.updateSubscription("sub-1", patch)).rejects.toMatchObject({ status: 503 })
    expect(received).toHaveLength(2)
  })

  it("deletes one", async () => {
    const { client, received } = clientOf(() => new Response(null, { status: 204 }))
    expect(await client.deleteSubscription("sub-1")).toBeUndefined()
    expect(received[0]).toMatchObject({ method: "DELETE", path: "/visibility/v1/subscriptions/sub-1", body: undefined })
  })
})
