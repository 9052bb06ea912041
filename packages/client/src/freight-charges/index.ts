export {
  type BillScope,
  type ChargeEventType,
  type ChargeFrequency,
  type ChargeSubscription,
  type ChargeSubscriptionCreate,
  type ChargeSubscriptionStatus,
  type ShipmentDataType,
  type WebhookTest,
  type WebhookTested
} from "./ChargeSubscription.ts"
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
export { FreightChargesClient, type FreightChargesClientOptions } from "./FreightChargesClient.ts"
