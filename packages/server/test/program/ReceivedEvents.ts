/** Transit events that a receiver got. */
import type { Reception } from "./Program.ts"

interface Batch {
  readonly deliveryId: string
  readonly events: ReadonlyArray<{ readonly eventId: string; readonly sequence: number; readonly shipment: { readonly shipmentId: string } }>
}

export const batchOf = (reception: Reception): Batch => JSON.parse(reception.body)

/** First receipt of each event, by subscription and shipment. */
export const firstDeliveries = (receptions: ReadonlyArray<Reception>) => {
  const known = new Set<string>()
  const perShipment = new Map<string, Array<number>>()
  for (const reception of receptions) {
    for (const { eventId, sequence, shipment } of batchOf(reception).events) {
      const id = `${reception.path} ${eventId}`
      if (known.has(id)) continue
      known.add(id)
      const key = `${reception.path} ${shipment.shipmentId}`
      perShipment.set(key, [...perShipment.get(key) ?? [], sequence])
    }
  }
  return { count: known.size, perShipment }
}
