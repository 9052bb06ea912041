/** A webhook receiver without a port: it answers with scripted responses, or with a test's handler. */
import type { AttemptOutcome } from "@waybill/core/delivery"
import { Effect } from "effect"
import { type Behaviour, Receiver, type ReceivedRequest } from "../delivery/WebhookSenderScripted.ts"
import { type ReceivedDelivery, receivedDelivery, skewed, wronglySigned } from "./ReceivedDelivery.ts"
import { type ReceiverAssertions, receiverAssertions } from "./ReceiverAssertions.ts"
import { makeReceiverFaults, type ReceiverFault, type ReceiverFaults } from "./ReceiverFaults.ts"
import { millisOf, type TimeSpan } from "./TimeSpan.ts"

/** A status; `refuse`: connection refused; `hang`: no response before the deadline; or a delayed status. */
export type Answer =
  | number
  | "refuse"
  | "hang"
  | { readonly status: number; readonly after?: TimeSpan; readonly retryAfterSeconds?: number }

/** The code under test: a fetch-style handler. The clock does not advance while it runs. If it throws, the sender gets 500. */
export type WebhookHandler = (request: Request) => Response | Promise<Response>

/** A scripted receiver of webhooks at an address that needs no port. */
export interface TestReceiver extends ReceiverAssertions {
  readonly url: string
  /** Every request that reached it, in order, repeats included. */
  readonly received: ReadonlyArray<ReceivedDelivery>
  /** Sets the next responses, one after the other; the last one repeats. 200 by default. */
  readonly answers: (...answers: readonly [Answer, ...ReadonlyArray<Answer>]) => TestReceiver
  /** Errors that your handler threw, in order. */
  readonly handlerErrors: ReadonlyArray<unknown>
  /** Uses your own handler from now on. */
  readonly handledBy: (handler: WebhookHandler) => TestReceiver
  /** Faults on the way to the receiver. */
  readonly faults: ReceiverFaults
}

interface ReceiverSurroundings {
  readonly now: () => number
  /** Every secret of the service. */
  readonly secrets: Iterable<string>
  /** The clock does not advance until this ends. */
  readonly await: (work: Promise<unknown>) => void
}

/** The receiver, and the sender's side of its address. */
export const makeTestReceiver = (url: string, around: ReceiverSurroundings): { readonly receiver: TestReceiver; readonly behaviour: Behaviour } => {
  const received: Array<ReceivedDelivery> = []
  const faults: Array<ReceiverFault> = []
  const late: Array<ReceivedRequest> = []
  const handlerErrors: Array<unknown> = []
  let answer: Behaviour = Receiver.accept()

  const handOver: Behaviour = (request) =>
    Effect.suspend(() => {
      const delivery = { ...receivedDelivery(request, around.secrets, around.now()), answer: undefined as ReceivedDelivery["answer"] }
      received.push(delivery)
      return Effect.map(answer(request), (outcome) => {
        delivery.answer = answerIn(outcome)
        return outcome
      })
    })

  const behaviour: Behaviour = (request) =>
    Effect.suspend(() => {
      const fault = faults.shift()
      if (fault?.kind === "reorder") {
        late.push(request)
        return Receiver.accept()(request)
      }
      if (fault?.kind === "drop") return Receiver.hang(request)
      const overtaken = late.splice(0)
      return Effect.tap(underFault(fault, handOver)(request), () => Effect.forEach(overtaken, handOver, { discard: true }))
    })

  const receiver: TestReceiver = {
    url,
    received,
    handlerErrors,
    answers: (...answers) => {
      if (answers.length as number === 0) throw new RangeError("Give answers at least one answer, such as 503.")
      const behaviours = answers.map(behaviourOf)
      let turn = 0
      answer = (request) => behaviours[Math.min(turn++, behaviours.length - 1)]!(request)
      return receiver
    },
    handledBy: (handler) => {
      if (typeof handler !== "function") throw new TypeError("handledBy takes a function of a Request that returns a Response, such as handle of a DeliveryReceiver.")
      answer = handlerBehaviour(handler, around.await, (error) => handlerErrors.push(error))
      return receiver
    },
    faults: makeReceiverFaults((fault) => faults.push(fault)),
    ...receiverAssertions(url, () => received)
  }

  const underFault = (fault: ReceiverFault | undefined, next: Behaviour): Behaviour => {
    switch (fault?.kind) {
      case "duplicate":
        return (request) => Effect.tap(next(request), () => next(request))
      case "delay":
        return (request) => arriveLate(request, fault.millis, next)
      case "slow":
        return (request) => Effect.flatMap(next(request), (outcome) => Receiver.delay(fault.millis, () => Effect.succeed(outcome))(request))
      case "skew":
        return (request) => next(skewed(request, around.secrets, fault.millis))
      case "wrongSignature":
        return (request) => next(wronglySigned(request))
      default:
        return next
    }
  }

  return { receiver, behaviour }
}

const answerIn = (outcome: AttemptOutcome): ReceivedDelivery["answer"] => {
  if (outcome._tag === "Interrupted") return undefined
  return outcome.status ?? (outcome._tag === "Failed" && outcome.failure === "connect_refused" ? "refuse" : "hang")
}

/** The request is delivered even if the sender no longer waits for the response. */
const arriveLate = (request: ReceivedRequest, millis: number, next: Behaviour): Effect.Effect<AttemptOutcome> =>
  millis < request.deadlineMillis
    ? Effect.andThen(Effect.sleep(millis), next(request))
    : Effect.andThen(Effect.forkDetach(Effect.andThen(Effect.sleep(millis), next(request))), Receiver.hang(request))

const statusBehaviour = (status: number, retryAfterSeconds?: number): Behaviour => {
  if (status === 410) return Receiver.gone
  if (status >= 200 && status < 300) return Receiver.accept(status)
  return Receiver.fail(status, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
}

const behaviourOf = (answer: Answer): Behaviour => {
  if (answer === "refuse") return Receiver.refuse
  if (answer === "hang") return Receiver.hang
  const { after = 0, retryAfterSeconds, status }: Exclude<Answer, number | string> = typeof answer === "object" ? Object(answer) : { status: answer }
  if (!(Number.isInteger(status) && status >= 200 && status <= 599)) {
    throw new RangeError(`${JSON.stringify(answer)} is no answer. Give a status from 200 to 599, "refuse", "hang" or { status, after }.`)
  }
  const answered = statusBehaviour(status, retryAfterSeconds)
  return after === 0 ? answered : Receiver.delay(millisOf(after), answered)
}

const handlerBehaviour = (handler: WebhookHandler, tracked: (work: Promise<unknown>) => void, threw: (error: unknown) => void): Behaviour => (received) =>
  Effect.flatMap(
    Effect.promise(() => {
      const { body, headers, url } = received
      const request = new Request(url, { method: "POST", headers, body: body.slice() })
      // starts after it is tracked, so that its own calls of the service do not wait for it
      const answered = Promise.resolve(request).then(handler).then(responseOf).catch((error: unknown) => {
        threw(error)
        return new Response(null, { status: 500 })
      })
      tracked(answered)
      return answered
    }),
    ({ headers, status }) => {
      const retryAfter = Number(headers.get("retry-after") ?? Number.NaN)
      return statusBehaviour(status, Number.isFinite(retryAfter) ? retryAfter : undefined)(received)
    }
  )

const responseOf = (response: Response): Response => {
  if (typeof response?.status !== "number") throw new TypeError("The handler answered no Response. Return one, such as new Response(null, { status: 204 }).")
  return response
}
