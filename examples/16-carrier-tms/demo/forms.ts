/** The fields of the booking form. */
import type { Booking } from "../src/shipments/dispatch.ts"

export const bookingFields = ({ delivery, pickup, ...booking }: Booking): Record<string, string | number> => ({
  ...booking,
  ...stopFields("pickup", pickup),
  ...stopFields("delivery", delivery)
})

const stopFields = (kind: string, stop: Booking["pickup"]) => Object.fromEntries(Object.entries(stop).map(([name, value]) => [`${kind}.${name}`, value]))
