/** Sample shipments as a carrier's system reports them, and sample lookup answers: valid and arbitrary ones. */
import { type PostedShipment, unmovedOf, type VerifiedShipment } from "@waybill/core/shipment-status"
import { Arbitrary } from "effect"
import { addressOf, boston, chicago } from "../journeys/Lane.ts"
import { oneOf, wholeNumber } from "../shared/Draws.ts"

type Milestone = VerifiedShipment["ShipmentMilestoneStatus"]

const origin = addressOf(chicago, null)
const destination = addressOf(boston, null, "Dock 4")

/**
 * A valid shipment report, with the shipmentId as its PRO number and without a milestone, as when it is booked.
 * Its BOL and PO numbers are `BOL-` and `PO-` before the PRO; it goes from 60608 to 02108.
 */
export const postedShipment = (shipmentId: string, overrides: Partial<PostedShipment> = {}): PostedShipment => {
  const { ProNumber = shipmentId } = overrides
  return {
    shipmentId,
    ProNumber,
    ReferenceNumbers: { bolNumber: `BOL-${ProNumber}`, QuoteID: null, ShipmentID: null, MasterBOL: null, poNumber: `PO-${ProNumber}`, AdditionalReferences: null, trailerNumber: null },
    UniqueID: `${ProNumber}WAYB20261120`,
    PayType: "Prepaid",
    ShipType: "Shipper",
    PickupAddress: origin,
    BillToAddress: origin,
    BillToAccountNumber: "A",
    ConsigneeAddress: destination,
    GrossWeight: 1840,
    EstimatedStandardDay: 2,
    EstimatedDeliveryDate: "2026-11-24",
    ...overrides
  }
}

/** A complete verified answer. The given members replace the sample's. */
export const verifiedShipment = (proNumber: string, overrides: Partial<VerifiedShipment> = {}): VerifiedShipment => ({
  ...unmovedOf(postedShipment(proNumber)),
  DESaccessorial: ["LFTD"],
  Commodities: { description: "Hand tools, boxed", weight: 1840, weightUnit: "lbs", pieces: 96, packagingType: "BOX", classification: 60 },
  HandlingUnits: { index: 1, count: 3, type: "PLT", weight: 1840, weightUnit: "lbs", length: 48, width: 40, height: 52, dimensionsUnit: "In" },
  ShipmentMilestoneStatus: "In Transit",
  ShipmentTerminalInfo: { TerminalID: "CHI", City: "Cicero", State: "IL", PostalCode: "60804", Country: "USA", TerminalStatus: "Departed" },
  TimeZoneOfShipment: "-6",
  ...overrides
})

/** Fields that belong to a milestone. */
const milestoneFields = (milestone: Milestone, stopsAway: 1 | 2 | 3 | null): Partial<VerifiedShipment> =>
  milestone === "Interline"
    ? { PartnerCarrierName: "Partner Freight", PartnerCarrierSCAC: "PRTN" }
    : milestone === "Out for Delivery"
    ? { OFDStopsAway: stopsAway }
    : {}

/** A valid verified answer with arbitrary content: late shipments have a reason, cross-border ones a customs status. */
export const arbitraryVerifiedShipment: Arbitrary.Arbitrary<VerifiedShipment> = Arbitrary.map(
  Arbitrary.all({
    pro: oneOf(["0418367745", "041-8367745", "12345-7", "PRO 12 7", "ä船7"]),
    milestone: oneOf<Milestone>(["Picked-up", "In Transit", "Interline", "Out for Delivery", "Delivered"]),
    stopsAway: oneOf([null, 3, 2, 1]),
    late: oneOf([undefined, "310-2", "390-1", "320-999", "460-0"]),
    crossBorder: oneOf([undefined, "Bond", "Hold", "ClearedCustoms"] as const),
    consignee: oneOf([destination, { ...origin, city: "Toronto", state: "ON", postalCode: "M5V 2T6", country: "CAN" as const }]),
    estimate: oneOf(["2026-11-24", "2026-11-24T17:00:00-06:00", "2026-11-24T08:15:30.250Z"]),
    po: oneOf([null, "PO-1", "PO-1, PO-2; 77"]),
    limitedAccess: oneOf([null, "Farm", "Farm-87", "Other-999"]),
    weight: wholeNumber(1, 40_000),
    damaged: oneOf([true, false])
  }),
  ({ consignee, crossBorder, damaged, estimate, late, limitedAccess, milestone, po, pro, stopsAway, weight }) =>
    verifiedShipment(pro, {
      ReferenceNumbers: { ...verifiedShipment(pro).ReferenceNumbers, poNumber: po },
      ShipmentMilestoneStatus: milestone,
      ...milestoneFields(milestone, stopsAway),
      ConsigneeAddress: consignee,
      EstimatedDeliveryDate: estimate,
      UpdatedETA: late === undefined ? estimate : `2026-11-26${estimate.slice(10)}`,
      Late: late !== undefined,
      DelayReasonCode: late ?? null,
      CrossBorder: crossBorder !== undefined,
      CrossBorderStatus: crossBorder ?? null,
      DESLimitedAccess: limitedAccess,
      GrossWeight: weight,
      ShipmentDamage: damaged,
      PODAvailable: milestone === "Delivered"
    })
)
