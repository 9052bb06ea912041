/** The SQL function refuses an event for the same reason as core's schema, in every member of the schema. */
import { maxDepth, nestsDeeperThan, readInput } from "@waybill/core"
import { ReportedEvent } from "@waybill/core/transit-events"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { runningService } from "../host/Service.ts"

// Loaded by path, because another package's tests cannot be imported.
const { oddTexts } = await import(new URL("../../../http/test/hostile/HostileJson.ts", import.meta.url).pathname) as { readonly oddTexts: ReadonlyArray<string> }

const service = await runningService({ sqlPublishing: true })

const location = {
  locationId: "1", name: "Dock", type: "FACILITY", latitude: 41.8, longitude: -87.6, city: "Chicago", state: "IL", postalCode: "60608", country: "USA",
  address1: "1 Main St", address2: "Dock 4"
}

/** An event with every member of the schema; a test compares it with the schema. */
const completeEvent = {
  eventId: "event 1",
  sequence: 7,
  type: "DELIVERED",
  status: "Delivered",
  occurredAt: "2026-11-20T08:15:00-06:00",
  reportedAt: "2026-11-20T08:16:00Z",
  location,
  notes: "left at the dock",
  attributes: { custody: "consignee" },
  documents: [{ type: "POD", url: "https://carrier.example/pod/1", mimeType: "application/pdf" }],
  shipment: {
    shipmentId: "S-1", mode: "LTL", scac: "WAYB", references: [{ type: "PRO", value: "1" }], requestedPickupDate: "2026-11-19T08:00:00Z",
    startDate: "2026-11-19T08:00:00Z", endDate: "2026-11-20T08:00:00Z", origin: location, destination: location
  },
  parties: { accounts: ["A1"] }
}

type Path = ReadonlyArray<string | number>

const pathsIn = (value: unknown, path: Path = []): ReadonlyArray<Path> =>
  typeof value !== "object" || value === null ? [] : Object.entries(value).flatMap(([key, inner]) => [[...path, Array.isArray(value) ? Number(key) : key], ...pathsIn(inner, [...path, key])])

const lengths = [1, 20, 40, 100, 200, 500, 2000, 2048, 10_000]
const texts = [
  ...oddTexts.filter((text) => !text.includes("\u0000")),
  ...lengths.flatMap((length) => ["x".repeat(length), "x".repeat(length + 1), "😀".repeat(length / 2), `${"😀".repeat(length / 2)}xx`, "é".repeat(length)]),
  " x", "x ", "a\u00a0", "\u2029a", "a b", "a\u0085b", "usa", "US", "USAA", "U5A", "ſSA", "fac", "FACILITY", "GEOPOINT", "PARCEL", "POD", "DELAY", "delay"
]
const values: ReadonlyArray<unknown> = [
  ...texts, null, true, false, 0, -1, 1, 1.5, 90, 90.0000001, -90, -90.5, 180, 180.5, -180, -181, 9e15, 9e15 + 2, 9_007_199_254_740_992, 1e300, 5e-324,
  [], {}, [null], [1], ["x"], ["x", "y"], [[]], { a: 1 }, [{}], [{ type: 5 }, {}], [{}, { value: "x".repeat(501) }], { accounts: "A" }, { accounts: ["A", ""] },
  ...[200, 201, 1000, 1001].flatMap((count) => [Array.from({ length: count }, () => "A"), Array.from({ length: count }, () => ({}))])
]

/** What every event needs, and around the path one member of the complete event: the function takes its time for each member. */
const eventAround = ([first, second]: Path): object => {
  const { occurredAt, shipment, type } = completeEvent
  const { shipmentId } = shipment
  const only = (of: object, key: string | number | undefined) => Object.fromEntries(Object.entries(of).filter(([name]) => name === key))
  return { type, occurredAt, ...only(completeEvent, first), shipment: { shipmentId, ...(first === "shipment" ? only(shipment, second) : {}) } }
}

const withValue = (path: Path, value: unknown): unknown => {
  const copy = structuredClone(eventAround(path))
  const holder = path.slice(0, -1).reduce<any>((inner, key) => inner[key], copy)
  if (value === undefined) delete holder[path.at(-1)!]
  else holder[path.at(-1)!] = value
  return copy
}

/** JSON numbers that JavaScript cannot represent. */
const numberTexts = ["1e400", "-1e400", "7.00000000000000000000001", "9000000000000000.0000001", "90.00000000000000000001", "1e-400", "0.9999999999999999999999"]

const decode = readInput(ReportedEvent)

/** The first fault as core reports it. */
const byCore = (event: unknown): readonly [pointer: string, detail: string] | null => {
  const result = decode(event)
  if (Result.isSuccess(result)) return null
  const { detail, pointer } = result.failure.faults[0]!
  return [pointer, detail]
}

/** The two messages name the expected type in different words. */
const plain = (fault: ReadonlyArray<string> | null) => fault === null ? null : [fault[0], fault[1]!.startsWith("Expected ") ? "Expected" : fault[1]]

const compare = async (events: ReadonlyArray<string>) => {
  const { rows } = await service.pool.query(
    `SELECT e::jsonb::text AS held, "${service.schema}".transit_event_fault(e::jsonb) AS fault FROM unnest($1::text[]) AS e`,
    [events]
  )
  for (const { fault, held } of rows) expect(plain(fault), held.slice(0, 2000)).toEqual(plain(byCore(JSON.parse(held))))
  return rows.filter(({ fault }) => fault !== null).length
}

describe("transit_event_fault", () => {
  const paths = pathsIn(completeEvent)

  it("is compared in every member of the schema", () => {
    const names = (ast: any): ReadonlyArray<string> =>
      ast._tag === "Arrays" ? names(ast.rest[0]) : ast._tag !== "Objects" ? [] : ast.propertySignatures.flatMap(({ name, type }: any) => [name, ...names(type)])
    const compared = paths.flatMap((path) => path.slice(-1)).filter((key) => typeof key === "string" && key !== "custody" && key !== "0")
    expect(compared.toSorted()).toEqual(names(ReportedEvent.ast).toSorted())
    expect(byCore(completeEvent)).toBe(null)
  })

  it("refuses the same values as core in every member, for the same reason", async () => {
    for (const path of paths) {
      const refused = await compare([undefined, ...values].map((value) => JSON.stringify(withValue(path, value))))
      // attributes may have any content
      if (path[0] !== "attributes") expect(refused, path.join("/")).toBeGreaterThan(0)
    }
  }, 60_000)

  it("reads numbers like JavaScript", async () => {
    for (const path of [["sequence"], ["location", "latitude"], ["shipment", "origin", "longitude"], ["shipment", "shipmentId"]]) {
      await compare(numberTexts.map((text) => JSON.stringify(withValue(path, "@number")).replace("\"@number\"", text)))
    }
  })

  it("refuses an event that nests deeper than core reads", async () => {
    for (const [open, close] of [["[", "]"], ["{\"a\":", "}"]] as const) {
      for (const depth of [maxDepth - 2, maxDepth - 1, maxDepth, maxDepth + 1, 500]) {
        const event = `{"type":"DELAY","deep":${open.repeat(depth)}1${close.repeat(depth)}}`
        const { rows: [{ fault }] } = await service.pool.query(`SELECT "${service.schema}".transit_event_fault($1::jsonb) AS fault`, [event])
        expect(fault[1].startsWith("An event nests at most"), `${depth}`).toBe(nestsDeeperThan(JSON.parse(event), maxDepth))
      }
    }
  })
})
