/** A small publisher of transit events with optional flaws. */
import { signDelivery } from "@waybill/client"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { onTestFinished } from "vitest"
import { listening, urlOf } from "../../program/Program.ts"

/** Its flaws, named by the requirement they violate. */
export const flaws = [
  "create",
  "get",
  "list",
  "patch",
  "delete",
  "unknown-subscription",
  "invalid",
  "unauthenticated",
  "problem-bodies",
  "delivered",
  "body",
  "signed",
  "retry-after-error",
  "retry-after-drop",
  "stable-id",
  "signed-again",
  "in-order",
  "batch-size",
  "filtered",
  "listed",
  "paused",
  "deleted",
  "events",
  "events-order",
  "events-pages",
  "events-filters",
  "events-bounds"
] as const
export type Flaw = typeof flaws[number]

type Json = Record<string, any>

interface Kept {
  readonly shown: Json
  readonly queue: Array<ReadonlyArray<Json>>
  isSending: boolean
  isGone: boolean
}

export const apiKey = "a-key"

const place = { name: "Chicago terminal", city: "Chicago", state: "IL", postalCode: "60608", country: "USA" }
const types = ["PICKED_UP", "IN_TRANSIT", "DELIVERED"]

const readBody = async (request: IncomingMessage): Promise<any> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return text === "" ? undefined : JSON.parse(text)
}

const merged = (target: any, patch: any): any => {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch
  const result: Json = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = merged(result[name], value)
  }
  return result
}

const inOrder = (one: Json, other: Json) =>
  Buffer.compare(Buffer.from(one["shipment"].shipmentId), Buffer.from(other["shipment"].shipmentId)) || one["sequence"] - other["sequence"]

class SmallPublisher {
  readonly #is: (flaw: Flaw) => boolean
  readonly #secret: string
  readonly #subscriptions = new Map<string, Kept>()
  readonly #events: Array<Json> = []
  #moves = 0
  #isClosed = false

  constructor(secret: string, flaw: Flaw | undefined) {
    this.#secret = secret
    this.#is = (each) => each === flaw
  }

  close(): void {
    this.#isClosed = true
  }

  /** Publishes three events for each of two shipments. */
  move(): void {
    this.#moves += 1
    // Later name first, so that the order of the log differs from that of the list.
    const made = types.flatMap((type, index) =>
      ["B", "A"].map((name) => ({
        eventId: randomUUID(),
        type,
        occurredAt: new Date(Date.UTC(2026, 10, 20, 8 + index, this.#moves)).toISOString(),
        sequence: this.#is("body") ? String(index + 1) : index + 1,
        shipment: { shipmentId: `${name}-${this.#moves}`, origin: place, destination: place }
      })))
    this.#events.push(...made)
    if (this.#is("delivered")) return
    for (const kept of this.#subscriptions.values()) this.#enqueue(kept, made)
  }

  #enqueue(kept: Kept, events: ReadonlyArray<Json>): void {
    if (kept.isGone && !this.#is("deleted")) return
    if (kept.shown["status"] !== "active" && !this.#is("paused")) return
    const { eventTypes } = kept.shown["filters"] ?? {}
    const wanted = events.filter(({ type }) => this.#is("filtered") || eventTypes === undefined || eventTypes.includes(type))
    const size = this.#is("batch-size") ? 200 : kept.shown["delivery"].batchMaxSize ?? 200
    for (let at = 0; at < wanted.length; at += size) kept.queue.push(wanted.slice(at, at + size))
    if (!kept.isSending) void this.#send(kept)
  }

  async #send(kept: Kept): Promise<void> {
    kept.isSending = true
    for (let events = kept.queue.shift(); events !== undefined && !this.#isClosed; events = kept.queue.shift()) {
      let deliveryId = randomUUID()
      let first: { readonly headers: Record<string, string> } | undefined
      for (let attempt = 1; !this.#isClosed; attempt++) {
        if (attempt > 1 && this.#is("stable-id")) deliveryId = randomUUID()
        const body = Buffer.from(JSON.stringify({ deliveryId, sentAt: new Date().toISOString(), events, ...(this.#is("signed-again") ? { attempt } : {}) }))
        const { headers: signed } = await signDelivery({ secrets: this.#secret, deliveryId, body })
        const headers: Record<string, string> = { ...signed, "content-type": "application/json" }
        if (this.#is("signed")) headers["webhook-signature"] = `v1,${Buffer.from(headers["webhook-signature"]!.slice(3), "base64").toString("hex")}`
        const sent = this.#is("signed-again") && first !== undefined ? first.headers : headers
        first ??= { headers }
        const answer = await fetch(kept.shown["endpointUrl"], { method: "POST", headers: sent, body }).then(({ status }) => status, () => "drop" as const)
        if (typeof answer === "number" && answer < 300) break
        if (this.#is(answer === "drop" ? "retry-after-drop" : "retry-after-error")) break
        if (this.#is("in-order") && kept.queue.length > 0) {
          kept.queue.push(events)
          break
        }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    kept.isSending = false
  }

  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, "http://publisher")
    const answer = (status: number, json?: unknown, headers: Json = {}) =>
      void response.writeHead(status, json === undefined ? headers : { "content-type": status >= 400 ? "application/problem+json" : "application/json", ...headers }).end(json === undefined ? "" : JSON.stringify(json))
    const refuse = (status: number, title: string) =>
      this.#is("problem-bodies") ? answer(status, { error: title }, { "content-type": "application/json" }) : answer(status, { status, title, detail: title, errors: [] })
    const body = await readBody(request)
    if (url.pathname === "/move") {
      this.move()
      return answer(204)
    }
    const isOpen = this.#is("unauthenticated") && request.method === "GET"
    if (!isOpen && request.headers["x-api-key"] !== apiKey) return refuse(401, "Who is calling?")
    if (url.pathname === "/v1/events") return this.#listEvents(url.searchParams, answer, refuse)
    const [, , , id] = url.pathname.split("/")
    if (id === undefined) return request.method === "POST" ? this.#create(body, answer, refuse) : this.#list(url.searchParams, answer)
    return this.#one(request.method!, decodeURIComponent(id), body, answer, refuse)
  }

  #create(body: any, answer: (status: number, json?: unknown, headers?: Json) => void, refuse: (status: number, title: string) => void): void {
    if (!this.#is("invalid") && !URL.canParse(body?.endpointUrl ?? "")) return refuse(400, "endpointUrl is an address.")
    const id = `sub-${String(this.#subscriptions.size + 1).padStart(6, "0")}`
    const now = new Date().toISOString()
    const shown = { id, endpointUrl: "https://nowhere.example/", delivery: {}, ...body, status: "active", createdAt: now, updatedAt: now }
    this.#subscriptions.set(id, { shown, queue: [], isSending: false, isGone: false })
    answer(this.#is("create") ? 200 : 201, shown, { location: `/v1/subscriptions/${id}` })
  }

  #list(query: URLSearchParams, answer: (status: number, json?: unknown) => void): void {
    const [page, pageSize] = [Number(query.get("page") ?? 1), Number(query.get("pageSize") ?? 50)]
    const all = [...this.#subscriptions.values()].filter(({ isGone }) => !isGone).map(({ shown }) => shown)
    const from = this.#is("list") ? 0 : (page - 1) * pageSize
    answer(200, { data: all.slice(from, from + pageSize), page, pageSize, totalCount: all.length, totalPages: null })
  }

  #one(method: string, id: string, body: any, answer: (status: number, json?: unknown) => void, refuse: (status: number, title: string) => void): void {
    const kept = this.#subscriptions.get(id)
    if (kept === undefined || (kept.isGone && !this.#is("delete"))) {
      return this.#is("unknown-subscription") && method === "DELETE" ? answer(204) : refuse(404, "There is no such subscription.")
    }
    if (method === "DELETE") {
      kept.isGone = true
      return answer(204)
    }
    if (method === "PATCH") {
      const changed = this.#is("patch") ? { ...kept.shown, ...body } : merged(kept.shown, body)
      Object.assign(kept.shown, changed, { updatedAt: new Date().toISOString() })
    }
    answer(200, this.#is("get") && method === "GET" ? { ...kept.shown, createdAt: "2026-01-01T00:00:00Z" } : kept.shown)
  }

  #listEvents(query: URLSearchParams, answer: (status: number, json?: unknown) => void, refuse: (status: number, title: string) => void): void {
    const number = (name: string, fallback: number) => Number(query.get(name) ?? fallback)
    let [page, pageSize] = [number("page", 1), number("pageSize", this.#is("events") ? 50 : 100)]
    const [from, to, order] = [query.get("occurredFrom"), query.get("occurredTo"), query.get("order") ?? "asc"]
    const wanted = query.getAll("eventTypes")
    const isGood = page >= 1 && pageSize >= 1 && pageSize <= 500 && ["asc", "desc"].includes(order)
      && [from, to].every((text) => text === null || !Number.isNaN(Date.parse(text))) && wanted.every((type) => types.includes(type))
    if (!isGood && !this.#is("events-bounds")) return refuse(400, "Page not found.")
    page = Math.max(1, page)
    pageSize = Math.min(500, Math.max(1, pageSize))
    const instant = ({ occurredAt }: Json) => Date.parse(occurredAt)
    const until = this.#is("events-filters") ? (event: Json) => instant(event) <= Date.parse(to!) : (event: Json) => instant(event) < Date.parse(to!)
    const fitting = this.#events
      .filter((event) => query.get("shipmentId") === null || event["shipment"].shipmentId === query.get("shipmentId"))
      .filter(({ type }) => wanted.length === 0 || wanted.includes(type))
      .filter((event) => from === null || instant(event) >= Date.parse(from))
      .filter((event) => to === null || until(event))
    if (!this.#is("events-order")) fitting.sort(inOrder)
    if (order === "desc") fitting.reverse()
    const begin = (page - 1) * pageSize - (this.#is("events-pages") && page > 1 ? 1 : 0)
    const data = fitting.slice(begin, begin + pageSize)
    answer(200, { data: this.#is("listed") ? data.map((event) => ({ ...event, sequence: event["sequence"] + 1 })) : data, page, pageSize, totalCount: null })
  }
}

/** Runs until the end of the test. */
export const smallPublisher = async (secret: string, flaw?: Flaw) => {
  const publisher = new SmallPublisher(secret, flaw)
  const server = await listening((request, response) => void publisher.handle(request, response))
  onTestFinished(() => publisher.close())
  return { url: urlOf(server), move: () => publisher.move() }
}
