/** The customers' receivers: one HTTP server behind a proxy per origin; each subscription has its own behaviour. */
import { verifyDelivery } from "@waybill/client"
import { createHash } from "node:crypto"
import { createWriteStream, type WriteStream } from "node:fs"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Workload, Subscriber } from "./Workload.ts"
import type { ArrivedEvent, Ledger } from "./Ledger.ts"
import type { Random } from "./Plan.ts"
import { Proxy, type ProxiedConnection } from "./Proxy.ts"

/** A request whose sender cannot receive the response. */
interface Unanswered {
  readonly subscriber: Subscriber
  readonly since: number
  /** The sender's port. */
  readonly senderPort: number
}

interface ReceiversOptions {
  readonly workload: Workload
  readonly ledger: Ledger
  readonly random: Random
  readonly attemptTimeoutSeconds: number
  /** A file with one line per request. */
  readonly file: string
  /** The response reached the sender, for a subscription with stable connections. */
  readonly onAccepted: (subscriber: Subscriber, request: Unanswered) => void
}

/** Duration of a receiver's fault. */
const faultMillis = 6_000
const faultEveryMillis = 20_000

export class Receivers {
  readonly unanswered = new Set<Unanswered>()
  readonly proxies: Array<Proxy> = []
  /** By subscription. */
  readonly secrets: Array<string> = []
  /** From now on no receiver has a fault. */
  faultFree = false
  refusals = 0
  dropped = 0
  late = 0
  private readonly options: ReceiversOptions
  private readonly server: Server
  private readonly log: WriteStream

  private constructor(options: ReceiversOptions) {
    this.options = options
    this.log = createWriteStream(options.file)
    this.server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => this.receive(request, response))
  }

  static async open(options: ReceiversOptions): Promise<Receivers> {
    const receivers = new Receivers(options)
    await new Promise<void>((resolve) => receivers.server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve))
    const target = { host: "127.0.0.1", port: (receivers.server.address() as AddressInfo).port }
    for (let origin = 0; origin < options.workload.origins; origin++) receivers.proxies.push(await Proxy.open(() => target))
    return receivers
  }

  urlOf(subscriber: Subscriber): string {
    return `http://127.0.0.1:${this.proxies[subscriber.origin]!.port}/${subscriber.tenant}/${subscriber.index}`
  }

  /** Connections that faults may affect. */
  get faultyConnections(): ReadonlyArray<ProxiedConnection> {
    return this.proxies.flatMap((proxy, origin) => this.options.workload.isStable(origin) ? [] : [...proxy.connections])
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const { workload } = this.options
    const [, tenant, index] = request.url!.split("/")
    const subscriber = workload.subscribers[Number(index)]
    if (subscriber === undefined || subscriber.tenant !== tenant) {
      this.options.ledger.violated("a receiver gets only its own events", `a request to ${request.url}`)
      return void response.writeHead(404).end()
    }
    const connection = this.proxies[subscriber.origin]!.byServerPort.get(request.socket.remotePort ?? 0)
    const unanswered = { subscriber, since: Date.now(), senderPort: connection?.clientPort ?? 0 }
    this.unanswered.add(unanswered)
    response.once("close", () => this.unanswered.delete(unanswered))
    const chunks: Array<Buffer> = []
    request.on("error", () => {})
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => void this.received(unanswered, request, response, Buffer.concat(chunks)))
  }

  private async received(unanswered: Unanswered, request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const { ledger } = this.options
    const { subscriber } = unanswered
    const id = String(request.headers["webhook-id"])
    const sha256 = createHash("sha256").update(body).digest("base64url")
    const events = eventsOf(body, id)
    if (events === undefined) {
      ledger.violated("a body has the format of the interface", `${request.url} ${id}`)
      return void response.writeHead(400).end()
    }
    ledger.arrive(subscriber, id, sha256, events)
    const problem = await this.problemOf(subscriber, request, body)
    const answer = problem === undefined ? this.answerOf(subscriber) : { status: 401, afterMillis: 0 }
    const off = (Number(request.headers["webhook-timestamp"]) - Date.now() / 1000).toFixed(1)
    this.log.write(`${Date.now()} ${off} ${unanswered.senderPort} ${subscriber.tenant}/${subscriber.index} ${id} ${sha256} ${problem ?? "verified"} ${answer.status} ${events.map(({ eventId }) => eventId).join(",")}\n`)
    setTimeout(() => this.answer(unanswered, response, events, answer), answer.afterMillis)
  }

  private answer(unanswered: Unanswered, response: ServerResponse, events: ReadonlyArray<ArrivedEvent>, { retryAfter, status }: PlannedAnswer): void {
    const { ledger, onAccepted } = this.options
    if (response.destroyed) return
    if (status === "drop") {
      this.dropped += 1
      return void response.socket?.resetAndDestroy()
    }
    if (status >= 300) {
      this.refusals += 1
      return void response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end("not now")
    }
    ledger.accept(unanswered.subscriber, events)
    response.once("finish", () => {
      this.unanswered.delete(unanswered)
      onAccepted(unanswered.subscriber, unanswered)
    })
    response.writeHead(200).end()
  }

  private async problemOf(subscriber: Subscriber, request: IncomingMessage, body: Buffer): Promise<string | undefined> {
    const { ledger } = this.options
    const off = Number(request.headers["webhook-timestamp"]) - Date.now() / 1000
    ledger.clockSeconds.ahead = Math.max(ledger.clockSeconds.ahead, off)
    ledger.clockSeconds.behind = Math.min(ledger.clockSeconds.behind, off)
    try {
      await verifyDelivery({ secrets: this.secrets[subscriber.index]!, headers: request.headers as Record<string, string>, body })
      return undefined
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      ledger.violated("every signature verifies", `${request.url} ${String(request.headers["webhook-id"])}: ${why}`)
      return why.replaceAll(" ", "_")
    }
  }

  private answerOf({ index, behaviour }: Subscriber): PlannedAnswer {
    const { attemptTimeoutSeconds, random } = this.options
    const quick = { status: 200, afterMillis: random() * 10 }
    if (this.faultFree) return quick
    const isFaulty = (Date.now() + index * 3_571) % faultEveryMillis < faultMillis
    switch (behaviour) {
      case "healthy":
        return quick
      case "slow":
        return { status: 200, afterMillis: 50 + random() * 250 }
      case "failing":
        return isFaulty ? { status: random() < 0.5 ? 500 : 503, afterMillis: 5 } : quick
      case "dropping":
        return random() < 0.15 ? { status: "drop", afterMillis: 0 } : quick
      case "late":
        if (random() >= 0.08) return quick
        this.late += 1
        return { status: 200, afterMillis: attemptTimeoutSeconds * 1000 + 300 }
      case "limited":
        if (!isFaulty || random() < 0.2) return quick
        return { status: 429, afterMillis: 2, retryAfter: random() < 0.5 ? "1" : new Date(Date.now() + 2_000).toUTCString() }
    }
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    this.server.closeAllConnections()
    await Promise.all(this.proxies.map((proxy) => proxy.close()))
    await closed
    await new Promise<void>((resolve) => this.log.end(resolve))
  }
}

interface PlannedAnswer {
  readonly status: number | "drop"
  readonly afterMillis: number
  readonly retryAfter?: string
}

const eventsOf = (body: Buffer, id: string): ReadonlyArray<ArrivedEvent> | undefined => {
  try {
    const { deliveryId, events } = JSON.parse(body.toString()) as { deliveryId: string; events: ReadonlyArray<ArrivedEvent> }
    return deliveryId === id && Array.isArray(events) && events.length > 0 ? events : undefined
  } catch {
    return undefined
  }
}
