/** Transit events of about one kilobyte, as objects for publishing and as SQL for filling tables. */

/** Bytes of the stored and sent JSON of one event. */
const eventBytes = 1024

/** Reported by a carrier, visible to `accounts`. The receiver searches for the mark. */
export const sampleEvent = (shipmentId: string, accounts: ReadonlyArray<string>, mark = "mark-00000000") => ({
  ...described(shipmentId, mark),
  parties: { accounts }
})

const described = (shipmentId: string, mark: string) => ({
  type: "ARRIVED_AT_TERMINAL" as const,
  status: "Arrived at terminal",
  occurredAt: "2026-11-20T08:15:00-06:00",
  reportedAt: "2026-11-20T08:16:30-06:00",
  location: {
    locationId: "DAL-04",
    name: "Dallas cross-dock",
    type: "FACILITY" as const,
    latitude: 32.7767,
    longitude: -96.797,
    city: "Dallas",
    state: "TX",
    postalCode: "75201",
    country: "USA"
  },
  notes: `${mark} ${padding}`,
  attributes: { trailer: "T-48213", seal: "009417", temperature: 4.5 },
  shipment: {
    shipmentId,
    mode: "LTL" as const,
    scac: "WAYB",
    references: [{ type: "BOL", value: "BOL-2026-114-0093" }, { type: "PO", value: "4500087731" }],
    origin: { city: "Laredo", state: "TX", postalCode: "78040", country: "USA" },
    destination: { city: "Columbus", state: "OH", postalCode: "43004", country: "USA" }
  }
})

const storedText = (eventId: string, sequence: string, shipmentId: string, mark: string) =>
  `{"eventId":"${eventId}","sequence":${sequence},${JSON.stringify(described(shipmentId, mark)).slice(1)}`

/** Padding up to `eventBytes`, for an id of 36 characters and a shipment of 12. */
let padding = ""
padding = "x".repeat(eventBytes - storedText("0".repeat(36), "1", "0".repeat(12), "mark-00000000").length)

/** A shipment's id, always twelve characters. */
export const shipmentOf = (n: number): string => `S${String(n).padStart(11, "0")}`

/** The bytes of an event as an SQL expression over text expressions for its id, sequence and shipment. */
export const bodySql = (eventId: string, sequence: string, shipmentId: string): string => {
  const text = storedText("@event", "@sequence", "@shipment", "mark-00000000").replaceAll("'", "''")
  return `convert_to(replace(replace(replace('${text}', '@event', ${eventId}), '@sequence', ${sequence}), '@shipment', ${shipmentId}), 'UTF8')`
}

/** One event as it is sent, for senders without a database. */
export const sampleBody = (n: number): string => storedText(String(n).padStart(36, "0"), "1", shipmentOf(n), "mark-00000000")
