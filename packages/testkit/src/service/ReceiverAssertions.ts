/** Common assertions on a receiver. Each throws a plain `Error`, so they work with any test runner. */
import type { ReceivedDelivery } from "./ReceivedDelivery.ts"

/** Assertions about what a receiver got. A failed one throws an `Error` that lists the requests. */
export interface ReceiverAssertions {
  /** This number of requests arrived, repeats included. */
  readonly assertReceived: (count: number) => void
  /** Something arrived, and every request is signed with a secret of the service, at most 5 minutes ago. */
  readonly assertSigned: () => void
  /** Transit events were accepted, those of each shipment with increasing sequences: no duplicate, none out of order. What was not accepted does not count, because it comes again. */
  readonly assertInOrder: () => void
  /** Something arrived, and no delivery twice. */
  readonly assertNoDuplicates: () => void
}

/** More would hide the first line of the message. */
const maxListed = 20

/** What arrived, for the end of a message: a line for each request. */
const listOf = (came: ReadonlyArray<ReceivedDelivery>): string => {
  if (came.length === 0) return ""
  const lines = came.slice(0, maxListed).map(({ answer, at, deliveryId, signature, ...content }) =>
    `  ${at.toISOString()} ${deliveryId}${signature === "good" ? "" : ` (signature ${signature})`} ${contentOf(content)}${answeredText(answer)}`)
  return `\nreceiver.received has:\n${lines.join("\n")}${came.length > maxListed ? `\n  and ${came.length - maxListed} more` : ""}`
}

const isAccepted = (answer: ReceivedDelivery["answer"]): answer is number | undefined => answer === undefined || typeof answer === "number" && answer < 300

/** Accepted requests need no remark; the others explain why there are more requests than expected. */
const answeredText = (answer: ReceivedDelivery["answer"]): string => {
  if (isAccepted(answer)) return ""
  return typeof answer === "number" ? `, answered ${answer}` : answer === "refuse" ? ", connection refused" : ", not answered in time"
}

const contentOf = ({ charges, events }: Pick<ReceivedDelivery, "charges" | "events">): string => {
  if (events.length > 0) return events.map(({ sequence, shipment, type }) => `${shipment.shipmentId} #${sequence} ${type}`).join(", ")
  return charges.length > 0 ? `${charges.length} freight charges` : "one notification"
}

export const receiverAssertions = (url: string, received: () => ReadonlyArray<ReceivedDelivery>): ReceiverAssertions => {
  /** Fails without requests, because an assertion about every request would pass. */
  const receivedOrFail = (): ReadonlyArray<ReceivedDelivery> => {
    const came = received()
    if (came.length === 0) throw new Error(`${url} received nothing. Check the subscription's address and filters, and advance the clock if a window is still open.`)
    return came
  }

  return {
    assertReceived: (count) => {
      const came = received()
      if (came.length !== count) {
        throw new Error(`${url} received ${came.length} requests instead of ${count}. Advance the clock if retries or windows are still to come.${listOf(came)}`)
      }
    },
    assertSigned: () => {
      for (const { deliveryId, signature } of receivedOrFail()) {
        if (signature !== "good") throw new Error(`The signature of ${deliveryId} at ${url} is ${signature}. Look at its headers, and at hmacSecretId of the subscription.${listOf(received())}`)
      }
    },
    assertInOrder: () => {
      const last = new Map<string, number>()
      for (const { answer, deliveryId, events } of receivedOrFail()) {
        if (!isAccepted(answer)) continue
        for (const { sequence, shipment } of events) {
          const before = last.get(shipment.shipmentId)
          if (sequence === before) {
            throw new Error(`Event ${sequence} of ${shipment.shipmentId} arrived at ${url} again, in ${deliveryId}.${listOf(received())}`)
          }
          if (before !== undefined && sequence < before) {
            throw new Error(`Event ${sequence} of ${shipment.shipmentId} arrived at ${url} after event ${before}, in ${deliveryId}.${listOf(received())}`)
          }
          last.set(shipment.shipmentId, sequence)
        }
      }
      if (last.size === 0) throw new Error(`${url} accepted no transit events. Only subscriptions of transit events have an order.`)
    },
    assertNoDuplicates: () => {
      const seen = new Set<string>()
      for (const { deliveryId } of receivedOrFail()) {
        if (seen.has(deliveryId)) throw new Error(`${deliveryId} arrived at ${url} more than once.${listOf(received())}`)
        seen.add(deliveryId)
      }
    }
  }
}
