/** Shipments as a carrier's system publishes them. */

const address = (name: string, city: string, state: string, postalCode: string) => ({
  addressName: name,
  addressLine1: "1 Main Street",
  addressLine2: null,
  city,
  state,
  postalCode,
  country: "USA"
})

/** All required fields, without a milestone; PRO, BOL and PO are derived from the id. */
export const reportedShipment = (shipmentId: string, more: Readonly<Record<string, unknown>> = {}) => ({
  shipmentId,
  ProNumber: `PRO-${shipmentId}`,
  ReferenceNumbers: {
    bolNumber: `BOL-${shipmentId}`,
    QuoteID: null,
    ShipmentID: null,
    MasterBOL: null,
    poNumber: `PO-${shipmentId}`,
    AdditionalReferences: null,
    trailerNumber: null
  },
  UniqueID: `${shipmentId}EXLA20261118`,
  PayType: "Prepaid",
  ShipType: "Shipper",
  PickupAddress: address("Acme", "Boston", "MA", "02134-1000"),
  BillToAddress: address("Acme", "Boston", "MA", "02134"),
  BillToAccountNumber: "A1",
  ConsigneeAddress: address("Bolt", "Dallas", "TX", "75201"),
  GrossWeight: 1200.5,
  EstimatedStandardDay: 3,
  EstimatedDeliveryDate: "2026-11-21",
  pickupDate: "2026-11-18T15:00:00-05:00",
  ...more
})

/** The same, in transit. */
export const movingShipment = (shipmentId: string, more: Readonly<Record<string, unknown>> = {}) =>
  reportedShipment(shipmentId, { ShipmentMilestoneStatus: "In Transit", ...more })
