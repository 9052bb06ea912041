export type * from "./ChargeSubscription.ts"
export type * from "./FreightCharge.ts"
export { chargeEventCodes, FreightChargesMalformed, parseFreightCharges } from "./FreightCharge.ts"
export * from "./FreightChargesClient.ts"
