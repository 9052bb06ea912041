/** Requirements for a publisher's API: subscriptions and refusals. */
import { randomUUID } from "node:crypto"
import { pathOf, type PublisherRequirement, answerText, Unmet } from "./Publisher.ts"
import { compareText, expectProblem, expectRefusal, expectStatus, read, Subscription, SubscriptionsPage } from "./PublisherShapes.ts"

const invalid = { filters: {} }

export const subscriptionRequirements: ReadonlyArray<PublisherRequirement> = [
  {
    id: "create",
    sentence: "creates a subscription: 201 with its Location",
    find: async (publisher) => {
      const { answer, id, inbox } = await publisher.subscribe()
      expectStatus(answer, 201)
      const made = read(Subscription, answer.json, "The subscription")
      if (made.endpointUrl !== inbox.url || made.status !== "active") throw new Unmet(`It shows the address ${made.endpointUrl} and the status ${made.status}; the address that was given and active are expected.`)
      const location = answer.headers.get("location")
      if (location === null || !location.endsWith(encodeURIComponent(id))) throw new Unmet(`The Location header is ${location ?? "missing"}; the subscription's address is expected.`)
      return `${id}, at ${location}`
    }
  },
  {
    id: "get",
    sentence: "returns a subscription as it was created",
    find: async (publisher) => {
      const { answer: made, id } = await publisher.subscribe({ filters: { eventTypes: ["DELIVERED"] } })
      const answer = expectStatus(await publisher.call("GET", pathOf(id)), 200)
      const [before, now] = [read(Subscription, made.json, "The subscription"), read(Subscription, answer.json, "The subscription")]
      for (const member of ["id", "endpointUrl", "status", "createdAt"] as const) {
        if (before[member] !== now[member]) throw new Unmet(`${member} was ${before[member]} when it was created, and is ${now[member]} now.`)
      }
      if (now.filters?.eventTypes?.join() !== "DELIVERED") throw new Unmet(`filters.eventTypes is ${JSON.stringify(now.filters?.eventTypes)}; ["DELIVERED"] was given.`)
      return answerText(answer)
    }
  },
  {
    id: "list",
    sentence: "lists subscriptions by id, on numbered pages",
    find: async (publisher) => {
      const made = [await publisher.subscribe(), await publisher.subscribe()]
      const found: Array<string> = []
      for (let page = 1; page <= 2; page++) {
        const answer = expectStatus(await publisher.call("GET", "/v1/subscriptions", { query: `page=${page}&pageSize=1` }), 200)
        const { data, ...numbers } = read(SubscriptionsPage, answer.json, `Page ${page}`)
        if (numbers.page !== page || numbers.pageSize !== 1 || data.length !== 1) throw new Unmet(`${answer.call} says page ${numbers.page} of ${numbers.pageSize} and contains ${data.length}; one subscription is expected.`)
        found.push(data[0]!.id)
      }
      if (compareText(found[0]!, found[1]!) >= 0) throw new Unmet(`Page 1 contains ${found[0]} and page 2 ${found[1]}; ids in order, each once, are expected.`)
      const whole = read(SubscriptionsPage, expectStatus(await publisher.call("GET", "/v1/subscriptions", { query: "pageSize=200" }), 200).json, "The list")
      const missing = made.filter(({ id }) => !whole.data.some((each) => each.id === id))
      if (missing.length > 0 && whole.data.length < 200) throw new Unmet(`${missing[0]!.id} was just created, and is not in the list.`)
      return `${whole.data.length} of them`
    }
  },
  {
    id: "patch",
    sentence: "changes only the members that a merge patch names",
    find: async (publisher) => {
      const { answer: made, id } = await publisher.subscribe({ filters: { eventTypes: ["DELIVERED"], shipmentIds: ["WAYBILL-CHECK"] } })
      const before = read(Subscription, made.json, "The subscription")
      expectStatus(await publisher.call("PATCH", pathOf(id), { body: { filters: { eventTypes: ["PICKED_UP"] } } }), 200)
      const answer = expectStatus(await publisher.call("PATCH", pathOf(id), { body: { status: "paused" } }), 200)
      for (const [what, json] of [["The answer", answer.json], ["The subscription", (await publisher.call("GET", pathOf(id))).json]] as const) {
        const now = read(Subscription, json, what)
        const is = JSON.stringify([now.status, now.filters?.eventTypes, now.filters?.shipmentIds, now.endpointUrl])
        const wanted = JSON.stringify(["paused", ["PICKED_UP"], ["WAYBILL-CHECK"], before.endpointUrl])
        if (is !== wanted) throw new Unmet(`${what} has status, eventTypes, shipmentIds and address ${is}; ${wanted} is expected.`)
      }
      return answerText(answer)
    }
  },
  {
    id: "delete",
    sentence: "removes a subscription: 204, then 404",
    find: async (publisher) => {
      const { id } = await publisher.subscribe()
      const answer = expectStatus(await publisher.remove(id), 204)
      expectStatus(await publisher.call("GET", pathOf(id)), 404)
      return answerText(answer)
    }
  },
  {
    id: "unknown-subscription",
    sentence: "answers 404 for an unknown subscription",
    find: async (publisher) => {
      const path = pathOf(randomUUID())
      const answers = [await publisher.call("GET", path), await publisher.call("PATCH", path, { body: { status: "paused" } }), await publisher.call("DELETE", path)]
      for (const answer of answers) expectStatus(answer, 404)
      return "404 for GET, PATCH and DELETE"
    }
  },
  {
    id: "invalid",
    sentence: "refuses a subscription with a missing or an invalid address",
    find: async (publisher) => {
      const { hmacSecretId } = publisher.options
      const [none, bad] = [await publisher.call("POST", "/v1/subscriptions", { body: { hmacSecretId } }), await publisher.call("POST", "/v1/subscriptions", { body: { endpointUrl: "nowhere", hmacSecretId } })]
      expectRefusal(none)
      expectRefusal(bad)
      return `${none.status} and ${bad.status}`
    }
  },
  {
    id: "unauthenticated",
    sentence: "refuses calls without credentials",
    find: async (publisher) => {
      const calls = [["GET", "/v1/events"], ["GET", "/v1/subscriptions"], ["POST", "/v1/subscriptions"]] as const
      for (const [method, path] of calls) {
        const answer = await publisher.call(method, path, { anonymous: true, ...(method === "POST" ? { body: { endpointUrl: "https://receiver.example/", hmacSecretId: publisher.options.hmacSecretId } } : {}) })
        expectStatus(answer, 401, 403)
      }
      return `refused ${calls.length} of ${calls.length}`
    }
  },
  {
    id: "problem-bodies",
    sentence: "explains refusals in the error body of area D",
    find: async (publisher) => {
      const path = pathOf(randomUUID())
      const answers = [
        await publisher.call("GET", path),
        await publisher.call("DELETE", path),
        await publisher.call("POST", "/v1/subscriptions", { body: invalid }),
        await publisher.call("GET", "/v1/events", { query: "pageSize=0" }),
        await publisher.call("GET", "/v1/events", { anonymous: true })
      ]
      for (const answer of answers) expectProblem(answer)
      return answers.map(({ call, status }) => `${status} for ${call}`).join(", ")
    }
  }
]
