/** A freight bill before it is invoiced: what is moved, for whom, and what it will cost (area E, PFC object). */
import type { OpenList } from "../shared/OpenList.ts"
import { BodyMalformed, checksOf } from "../shared/ReceivedJson.ts"

/** The published codes of what can change a bill, in published order. */
export const chargeEventCodes = [
  "RCL", "RWE", "RCC", "DET", "MNC", "APTD", "APTP", "REP", "RES", "LFTD", "LFTP", "CBL", "ACTCHG", "LTDAD", "LTDAP", "STG", "LUM",
  "UNL", "INBC", "FINL", "OTHR", "CBC", "OVR", "DMIN", "CMIN", "VOR", "RDL", "SEC", "HIPU", "HIDL", "CCS", "COD", "EXPD", "FVC",
  "GTD_AM", "GTD_NOON", "GTD_PM", "HAZ", "IDL", "IPU", "INBD", "MARK", "PPD", "PSC", "PSH", "PSN", "SRT", "SS", "TCS"
] as const

export type ChargeEventCode = typeof chargeEventCodes[number]

interface ChargePlace {
  readonly name: string
  readonly address1: string
  readonly address2?: string
  readonly city: string
  readonly stateProvince: string
  readonly postalCode: string
  readonly country: string
}

/** Where the freight comes from or goes to. */
export interface ChargeParty extends ChargePlace {
  readonly account: string
  readonly locationId?: string
}

/** Who pays. Its location is spelled otherwise, as published. */
export interface ChargeBillTo extends ChargePlace {
  readonly account: string
  readonly locationID?: string
}

export interface ChargePurchaseOrder {
  readonly number?: string
  readonly pieces?: number
  readonly weight?: string
  readonly weightUnit?: string
  readonly palletized?: boolean
  readonly additionalShipperInfo?: string
}

export interface ChargeReferenceNumbers {
  readonly pro: string
  readonly quoteId?: string
  readonly shipmentId?: string
  readonly masterBol?: string
  readonly trailerId?: string
  readonly manifestId?: string
  readonly bol?: ReadonlyArray<string>
  readonly po?: ReadonlyArray<ChargePurchaseOrder>
  readonly additionalReferences?: ReadonlyArray<{ readonly name?: string; readonly value?: string }>
}

export interface ChargeShipmentTotals {
  /** Carriers write local times without an offset here. */
  readonly pickupDate: string
  readonly grossWeight: number
  readonly netWeight?: number
  readonly weightUnit: string
  readonly handlingUnits: number
  readonly linearLength?: number
  readonly dimensionsUnit?: string
  readonly cube?: number
  readonly cubeDimensionsUnit?: string
  readonly declaredValue?: number
  readonly currency?: string
}

export interface ChargeLineItem {
  readonly description: string
  readonly weight: number
  readonly weightUnit: string
  readonly pieces: number
  readonly packagingType: string
  readonly classification: string
  readonly nmfc?: string
  readonly nmfcSub?: string
}

export interface ChargeHandlingUnit {
  readonly count: number
  readonly type: string
  readonly tareWeight?: number
  readonly weight: number
  readonly weightUnit: string
  readonly length: number
  readonly width: number
  readonly height: number
  readonly dimensionUnit: string
  readonly stackable?: boolean
  readonly lineItems?: ReadonlyArray<ChargeLineItem>
}

/** One thing that happened to the bill. `OTHR` goes with the carrier's own code. */
export interface ChargeLogEntry {
  readonly eventCategoryName?: string
  readonly eventCode?: OpenList<ChargeEventCode>
  readonly eventSubCode?: string
  readonly carrierCode?: string
  readonly carrierDescription?: string
  readonly weightAndResearchDocAvailable?: boolean
}

export interface ChargeAmounts {
  readonly grossCharges: number
  readonly discountAmount: number
  /** Percentage points. */
  readonly discountPercent: number
  readonly totalTareWeight?: number
  readonly tareWeightAmount?: number
  readonly deficitWeight?: number
  readonly fuelSurchargePercent: number
  readonly fuelSurchargeAmount: number
  readonly currencyType: string
  readonly weightUnit?: string
  readonly detail?: string
  readonly preliminaryTotalCharges: number
  readonly class?: ReadonlyArray<{ readonly freightClass?: string; readonly cwt?: number }>
  /** To date, unless the subscription wants none. */
  readonly changeLog?: ReadonlyArray<ChargeLogEntry>
  readonly changeLogMessages?: ReadonlyArray<{ readonly informationalMessage?: string }>
}

export interface PreliminaryFreightCharge {
  readonly pfc: {
    /** The PRO, the SCAC and the ship date: names the bill. */
    readonly uniqueID: string
    /** `PFC1` for the first version of the bill, then `PFC2` and so on; a later one replaces an earlier one. */
    readonly header: { readonly function: string }
    readonly date: string
    /** Of the shape, such as `v1.0`. */
    readonly version: string
    /** A sample, sent by the webhook test. */
    readonly isTest: boolean
  }
  readonly payment: { readonly terms: string }
  readonly shipmentTotals: ChargeShipmentTotals
  readonly accessorials?: { readonly codes?: ReadonlyArray<string> }
  readonly referenceNumbers: ChargeReferenceNumbers
  readonly origin: ChargeParty
  readonly destination: ChargeParty
  readonly billTo: ChargeBillTo
  readonly commodities: { readonly handlingUnits: ReadonlyArray<ChargeHandlingUnit> }
  readonly charges: ChargeAmounts
}

/** The bytes are no list of freight charges. `pointer` says where. */
export class FreightChargesMalformed extends BodyMalformed {
  override readonly name = "FreightChargesMalformed"
}

const { json, object, some, text } = checksOf(FreightChargesMalformed)

/**
 * Reads a delivery's body.
 *
 * Checks what a receiver relies on: which bill, and which version of it. Anything else is passed on as it came, with
 * fields and codes this version has not heard of.
 */
export const parseFreightCharges = (body: Uint8Array): ReadonlyArray<PreliminaryFreightCharge> => checkFreightCharges(json(body))

/** The same, of JSON that was parsed already. */
export const checkFreightCharges = (body: unknown): ReadonlyArray<PreliminaryFreightCharge> => {
  const charges = some("", body, "freight charge")
  charges.forEach((charge, index) => {
    const pfc = object(`/${index}/pfc`, object(`/${index}`, charge)["pfc"])
    text(`/${index}/pfc/uniqueID`, pfc["uniqueID"])
    text(`/${index}/pfc/header/function`, object(`/${index}/pfc/header`, pfc["header"])["function"])
  })
  return charges as ReadonlyArray<PreliminaryFreightCharge>
}
