/** Receivers without a network: each answers by a script, and records its requests. */
import { AttemptOutcome, bytesOfBody, type WebhookRequest, WebhookSender } from "@waybill/core/delivery"
import { publicOnly, refusalOfUrl } from "@waybill/http"
import { Clock, Context, Effect, Exit, Latch, Layer } from "effect"

/** One received request. */
export interface ReceivedRequest extends Omit<WebhookRequest, "body"> {
  readonly body: Uint8Array
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number
}

/** How a receiver answers a request. */
export type Behaviour = (request: ReceivedRequest) => Effect.Effect<AttemptOutcome>

/** One behaviour for all requests, or one for each request; the last one repeats. */
export type Script = Behaviour | ReadonlyArray<Behaviour>

/** An event of a received batch: what every area's events have in common. */
export interface ReceivedEvent {
  readonly eventId: string
  readonly sequence: number
  readonly shipment: { readonly shipmentId: string }
  readonly [field: string]: unknown
}

/** The body of a received request, read as JSON. */
export interface ReceivedBatch {
  readonly deliveryId: string
  readonly sentAt: string
  readonly events: ReadonlyArray<ReceivedEvent>
}

/** Accepts with a 2xx status. */
const accept = (status = 200): Behaviour => () => Effect.succeed(AttemptOutcome.Accepted({ status, excerpt: "" }))

/** Answers with a status other than 2xx. */
const fail = (status = 500, options: { readonly retryAfterSeconds?: number } = {}): Behaviour => () => {
  const failure = status === 429 ? "http_429" : status >= 500 ? "http_5xx" : status >= 400 ? "http_4xx" : "http_3xx"
  return Effect.succeed(AttemptOutcome.Failed({ failure, status, detail: `The receiver answered ${status}.`, ...options }))
}

/** Answers 410. */
const gone: Behaviour = () => Effect.succeed(AttemptOutcome.Gone({ status: 410, excerpt: "" }))

/** Refuses the connection. */
const refuse: Behaviour = () =>
  Effect.succeed(AttemptOutcome.Failed({ failure: "connect_refused", detail: "The receiver refused the connection." }))

/** Never answers: the attempt times out. */
const hang: Behaviour = ({ deadlineMillis }) =>
  Effect.as(
    Effect.sleep(deadlineMillis),
    AttemptOutcome.Failed({ failure: "timeout", detail: `The receiver did not answer within ${deadlineMillis / 1000} s.` })
  )

/** Answers after a delay; the attempt times out if the delay exceeds its deadline. */
const delay = (millis: number, then: Behaviour = accept()): Behaviour => (request) =>
  millis >= request.deadlineMillis ? hang(request) : Effect.andThen(Effect.sleep(millis), then(request))

/** Behaviours to write scripts with. */
export const Receiver = { accept, fail, gone, refuse, hang, delay }

const decoder = new TextDecoder()

/** The request's body as JSON. */
export const jsonOf = (request: ReceivedRequest): unknown => JSON.parse(decoder.decode(request.body))

/** The request's body as a batch of events. */
export const batchOf = (request: ReceivedRequest): ReceivedBatch => jsonOf(request) as ReceivedBatch

/** Receivers in memory: what each answers, and what it got. */
export class ScriptedReceivers extends Context.Service<ScriptedReceivers, {
  /** Sets the script of a receiver. Other receivers accept. */
  readonly script: (url: string, script: Script) => Effect.Effect<void>
  /** Sets the behaviour of receivers without a script. */
  readonly scriptOthers: (script: Script) => Effect.Effect<void>
  /** Everything sent so far, in order; to one address or all. */
  readonly requests: (url?: string) => Effect.Effect<ReadonlyArray<ReceivedRequest>>
  /** Events of requests that were answered with 2xx, in order of the answers, repeats included. */
  readonly deliveredEvents: (url?: string) => Effect.Effect<ReadonlyArray<ReceivedEvent>>
  /** Bodies of requests that were answered with 2xx, of any area, in order of the answers, repeats included. */
  readonly delivered: (url?: string) => Effect.Effect<ReadonlyArray<unknown>>
  /** Waits until this number of requests has arrived in total, at one address or at all. */
  readonly received: (count: number, url?: string) => Effect.Effect<ReadonlyArray<ReceivedRequest>>
}>()("@waybill/testkit/delivery/ScriptedReceivers") {}

/** The rules of the service by default: public addresses over `https`. */
const refusal = (url: string): string | undefined => refusalOfUrl(url, publicOnly)

const make = Effect.map(Effect.context<never>(), (context) => {
  const log: Array<ReceivedRequest> = []
  const answered: Array<ReceivedRequest> = []
  const scripts = new Map<string, { readonly script: Script; turn: number }>()
  const waiting = new Set<Latch.Latch>()
  let others: Script = accept()
  let otherTurn = 0

  const behaviourOf = (url: string): Behaviour => {
    const own = scripts.get(url)
    return own === undefined ? pick(others, otherTurn++) : pick(own.script, own.turn++)
  }

  const send = (request: WebhookRequest): Effect.Effect<AttemptOutcome> =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => {
      const received: ReceivedRequest = { ...request, body: bytesOfBody(request.body), at }
      log.push(received)
      // the count may still be too low after waking, so check again
      const woken = [...waiting]
      waiting.clear()
      for (const latch of woken) latch.openUnsafe()
      return Effect.tap(behaviourOf(request.url)(received), (outcome) =>
        Effect.sync(() => {
          if (outcome._tag === "Accepted") answered.push(received)
        }))
    })

  const requests = (url: string | undefined) => log.filter((each) => url === undefined || each.url === url)
  const accepted = (url: string | undefined) => answered.filter((each) => url === undefined || each.url === url)

  const received = (count: number, url?: string): Effect.Effect<ReadonlyArray<ReceivedRequest>> =>
    Effect.suspend(() => {
      const so = requests(url)
      if (so.length >= count) return Effect.succeed(so)
      const latch = Latch.makeUnsafe(false)
      waiting.add(latch)
      return Effect.flatMap(latch.await, () => received(count, url))
    })

  const start = (request: WebhookRequest, settle: (outcome: AttemptOutcome) => void): () => void => {
    let aborted = false
    const fiber = Effect.runForkWith(context)(send(request))
    fiber.addObserver((exit) => {
      if (!aborted) settle(Exit.isSuccess(exit) ? exit.value : AttemptOutcome.Interrupted({}))
    })
    return () => {
      aborted = true
      fiber.interruptUnsafe()
    }
  }

  return Context.make(WebhookSender, WebhookSender.of({ start, refusal })).pipe(
    Context.add(
      ScriptedReceivers,
      ScriptedReceivers.of({
        script: (url, script) => Effect.sync(() => void scripts.set(url, { script, turn: 0 })),
        scriptOthers: (script) =>
          Effect.sync(() => {
            others = script
            otherTurn = 0
          }),
        requests: (url) => Effect.sync(() => requests(url)),
        deliveredEvents: (url) => Effect.sync(() => accepted(url).flatMap((each) => batchOf(each).events)),
        delivered: (url) => Effect.sync(() => accepted(url).map(jsonOf)),
        received
      })
    )
  )
})

/** Sends webhooks to `ScriptedReceivers`, without a network. */
export const WebhookSenderScripted = {
  /** The transport, and the receivers behind it. */
  layer: Layer.effectContext(make)
}

const pick = (script: Script, turn: number): Behaviour => typeof script === "function" ? script : script[Math.min(turn, script.length - 1)]!
