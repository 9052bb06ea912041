/** The shipments for lookups, filled by SQL with the same rows as intake. */
import { keyOf, type LookupBy } from "@waybill/core/shipment-status"
import { query } from "../machine/PostgresServer.ts"
import { accountOf, tenantId } from "./Tenant.ts"

const address = (name: string, postalCode: string) => ({
  addressName: name,
  addressLine1: "1200 Commerce Street",
  addressLine2: null,
  city: "Dallas",
  state: "TX",
  postalCode,
  country: "USA",
  accountNumber: accountOf(0)
})

/** The public answer for a PRO. */
export const samplePublic = (pro: string) => ({
  ProNumber: pro,
  ShipmentMilestoneStatus: "In Transit",
  UpdatedETA: "2026-11-24T17:00:00-06:00",
  EstimatedStandardDay: 3
})

/** The verified answer for a PRO: every field, as large as real ones are. */
export const sampleVerified = (pro: string) => ({
  ...samplePublic(pro),
  ReferenceNumbers: {
    bolNumber: `BOL${pro}`,
    QuoteID: "Q-20261120-17",
    ShipmentID: `SID${pro}`,
    MasterBOL: null,
    poNumber: `PO${pro}`,
    AdditionalReferences: null,
    trailerNumber: "TRL-5521"
  },
  UniqueID: `${pro}WAYB20261120`,
  UpdatedPro: null,
  PayType: "Prepaid",
  ShipType: "Shipper",
  PickupAddress: address("Lakeshore Tools", "60608"),
  BillToAddress: address("Lakeshore Tools Accounts Payable", "60608"),
  BillToAccountNumber: accountOf(0),
  ConsigneeAddress: address("Trinity Hardware", "75201"),
  DESaccessorial: ["LFTD", "APTD"],
  DESLimitedAccess: null,
  TimeCriticalType: null,
  TimeCriticalInfo: {},
  GrossWeight: 1840,
  Commodities: { description: "Hand tools", weight: 1840, weightUnit: "lbs", pieces: 40, packagingType: "BOX", classification: 70, hazardous: false },
  HandlingUnits: { count: 2, type: "PLT", weight: 1840, weightUnit: "lbs", length: 48, width: 40, height: 52, dimensionsUnit: "In", stackable: false },
  ShipmentMilestoneStatusLong: null,
  ShipmentTerminalInfo: { TerminalID: "DAL", City: "Irving", State: "TX", PostalCode: "75061", Country: "USA", TerminalStatus: "Arrived" },
  TimeZoneOfShipment: "-6",
  EstimatedDeliveryDate: "2026-11-24T17:00:00-06:00",
  OFDStopsAway: null,
  Reconsignment: false,
  ShipmentShortage: false,
  ShipmentDamage: false,
  AllShortOrLostShipment: false,
  Late: false,
  AppointmentRequired: true,
  AppointmentStatus: "Secured",
  AppointmentDate: "2026-11-24T15:00:00-06:00",
  CrossBorder: false,
  PODAvailable: false
})

const mark = "000000000"

const bytesSql = (sample: object, pro: string) =>
  `convert_to(replace('${JSON.stringify(sample).replaceAll("'", "''")}', '${mark}', ${pro}), 'UTF8')`

const sampleKeys: ReadonlyArray<LookupBy> = [
  { kind: "pro", proNumber: mark },
  { kind: "bol", bolNumber: `BOL${mark}`, originPostalCode: "60608" },
  { kind: "po", poNumber: `PO${mark}`, destinationPostalCode: "75201" }
]

/** Shipments `from` up to, not including, `to`, all of customer 0. */
export const storeShipments = (database: string, range: { readonly from: number; readonly to: number }) =>
  query(
    database,
    `WITH ships AS MATERIALIZED (
       SELECT 'L' || n AS id, (100000000 + n)::text AS pro, now() - n * interval '1 second' AS at
       FROM generate_series($2::int8, $3::int8 - 1) AS n
     ),
     known AS (
       INSERT INTO waybill.shipments (tenant_id, shipment_id, accounts) SELECT $1, id, ARRAY[$4] FROM ships
     ),
     accounts AS (
       INSERT INTO waybill.shipment_accounts (tenant_id, account, shipment_id, pickup_at) SELECT $1, $4, id, at FROM ships
     ),
     keys AS (
       INSERT INTO waybill.shipment_keys (tenant_id, key, shipment_id, pickup_at, covered)
       SELECT $1, replace(key, '${mark}', pro), id, at, true FROM ships CROSS JOIN unnest($5::text[]) AS key
     )
     INSERT INTO waybill.shipment_statuses (tenant_id, shipment_id, state, verified, public, covered, pickup_at)
     SELECT $1, id, '{}', ${bytesSql(sampleVerified(mark), "pro")}, ${bytesSql(samplePublic(mark), "pro")}, true, at FROM ships`,
    [tenantId, range.from, range.to, accountOf(0), sampleKeys.map((by) => keyOf(by)!)]
  )
