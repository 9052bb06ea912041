export type * from "./ChargeSubscription.ts"
export {
  type ChargeAmounts,
  type ChargeBillTo,
  type ChargeEventCode,
  chargeEventCodes,
  type ChargeHandlingUnit,
  type ChargeLineItem,
  type ChargeLogEntry,
  type ChargeParty,
  type ChargePurchaseOrder,
  type ChargeReferenceNumbers,
  type ChargeShipmentTotals,
  FreightChargesMalformed,
  parseFreightCharges,
  type PreliminaryFreightCharge
} from "./FreightCharge.ts"
export * from "./FreightChargesClient.ts"
