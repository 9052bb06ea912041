/** Common assertions on a receiver. Each throws a plain `Error`, so they work with any test runner. */
import type { ReceivedDelivery } from "./ReceivedDelivery.ts"

export interface ReceiverAssertions {
  /** This number of requests arrived, repeats included. */
  readonly assertReceived: (count: number) => void
  /** Every request is signed with a secret of the service, at most 5 minutes ago. */
  readonly assertSigned: () => void
  /** Transit events of each shipment arrived with increasing sequences: no duplicate, none out of order. */
  readonly assertInOrder: () => void
  /** No delivery arrived twice. */
  readonly assertNoDuplicates: () => void
}

export const receiverAssertions = (url: string, received: () => ReadonlyArray<ReceivedDelivery>): ReceiverAssertions => ({
  assertReceived: (count) => {
    const came = received()
    if (came.length !== count) {
      throw new Error(`${url} received ${came.length} requests instead of ${count}. Look at receiver.received, and advance the clock if retries or windows are still to come.`)
    }
  },
  assertSigned: () => {
    for (const { deliveryId, signature } of received()) {
      if (signature !== "good") throw new Error(`The signature of ${deliveryId} at ${url} is ${signature}. Look at its headers, and at hmacSecretId of the subscription.`)
    }
  },
  assertInOrder: () => {
    const last = new Map<string, number>()
    for (const { deliveryId, events } of received()) {
      for (const { sequence, shipment } of events) {
        const before = last.get(shipment.shipmentId)
        if (before !== undefined && sequence <= before) {
          throw new Error(`Event ${sequence} of ${shipment.shipmentId} came to ${url} after event ${before}, in ${deliveryId}. Look at receiver.received for what came before.`)
        }
        last.set(shipment.shipmentId, sequence)
      }
    }
  },
  assertNoDuplicates: () => {
    const seen = new Set<string>()
    for (const { deliveryId } of received()) {
      if (seen.has(deliveryId)) throw new Error(`${deliveryId} came to ${url} more than once. Look at receiver.received for when.`)
      seen.add(deliveryId)
    }
  }
})
