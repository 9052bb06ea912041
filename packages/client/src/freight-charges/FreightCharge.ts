/** A freight bill before it is invoiced: freight, parties and expected charges (area E, PFC object). */
import type { OpenList } from "../shared/OpenList.ts"
import { BodyMalformed, checksOf } from "../shared/ReceivedJson.ts"

/** The published codes of changes to a bill, in published order. */
export const chargeEventCodes = [
  "RCL", "RWE", "RCC", "DET", "MNC", "APTD", "APTP", "REP", "RES", "LFTD", "LFTP", "CBL", "ACTCHG", "LTDAD", "LTDAP", "STG", "LUM",
  "UNL", "INBC", "FINL", "OTHR", "CBC", "OVR", "DMIN", "CMIN", "VOR", "RDL", "SEC", "HIPU", "HIDL", "CCS", "COD", "EXPD", "FVC",
  "GTD_AM", "GTD_NOON", "GTD_PM", "HAZ", "IDL", "IPU", "INBD", "MARK", "PPD", "PSC", "PSH", "PSN", "SRT", "SS", "TCS"
] as const

/** A code of the published list for events in the change log of a bill. */
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

/** Origin or destination of the freight. */
export interface ChargeParty extends ChargePlace {
  readonly account: string
  readonly locationId?: string
}

/** The payer. The interface spells its location fields differently. */
export interface ChargeBillTo extends ChargePlace {
  readonly account: string
  readonly locationID?: string
}

/** A purchase order of the shipment. `weight` is text here, as area E publishes it. */
export interface ChargePurchaseOrder {
  readonly number?: string
  readonly pieces?: number
  readonly weight?: string
  readonly weightUnit?: string
  readonly palletized?: boolean
  readonly additionalShipperInfo?: string
}

/** Numbers that identify the shipment of a bill. Only the PRO is always there. */
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

/** Totals of the shipment: weights in `weightUnit`, length in `dimensionsUnit`, volume in `cubeDimensionsUnit`, value in `currency`. */
export interface ChargeShipmentTotals {
  /** Local time; carriers write it without an offset. */
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

/** A commodity in a handling unit: weight in `weightUnit`, freight class in `classification`. */
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

/** Handling units of one kind: weight in `weightUnit`, sizes in `dimensionUnit`. */
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

/** One change of the bill, with the code as the carrier wrote it. */
export interface ChargeLogEntry {
  readonly eventCategoryName?: string
  readonly eventCode?: OpenList<ChargeEventCode>
  readonly eventSubCode?: string
  readonly carrierCode?: string
  readonly carrierDescription?: string
  readonly weightAndResearchDocAvailable?: boolean
}

/** `charges` of a PFC object: amounts in `currencyType`, weights in `weightUnit`. */
export interface ChargeAmounts extends ChargeLog {
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
}

/** The changes of a bill, with their messages. */
export interface ChargeLog {
  /** All changes so far. Absent when the subscription excludes change logs. */
  readonly changeLog?: ReadonlyArray<ChargeLogEntry>
  readonly changeLogMessages?: ReadonlyArray<{ readonly informationalMessage?: string }>
}

/** One version of a freight bill before its invoice: the PFC object of area E. Notifications and in-flight lists are arrays of it. */
export interface PreliminaryFreightCharge {
  readonly pfc: {
    /** Identifies the bill: PRO, SCAC and ship date. */
    readonly uniqueID: string
    /** Version of the bill: `PFC1` for the first, then `PFC2` and so on. A later version replaces an earlier one. */
    readonly header: { readonly function: string }
    /** The same as in `header`. */
    readonly function?: string
    readonly date: string
    /** Version of the format, such as `v1.0`. */
    readonly version: string
    /** True for the sample delivery of a webhook test. */
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

/** The body is not a list of freight charges. `pointer` is the location of the error. */
export class FreightChargesMalformed extends BodyMalformed {
  override readonly name = "FreightChargesMalformed"
}

const { json, nonEmptyList, object, text } = checksOf(FreightChargesMalformed)

/**
 * Parses the body of a delivery.
 *
 * Checks only the id and version of each bill. Everything else passes unchanged, unknown fields and codes included.
 */
export const parseFreightCharges = (body: Uint8Array): ReadonlyArray<PreliminaryFreightCharge> => checkFreightCharges(json(body))

/** Like `parseFreightCharges`, for a parsed body. */
export const checkFreightCharges = (body: unknown): ReadonlyArray<PreliminaryFreightCharge> => {
  const charges = nonEmptyList("", body, "freight charge")
  charges.forEach((charge, index) => {
    const pfc = object(`/${index}/pfc`, object(`/${index}`, charge)["pfc"])
    text(`/${index}/pfc/uniqueID`, pfc["uniqueID"])
    text(`/${index}/pfc/header/function`, object(`/${index}/pfc/header`, pfc["header"])["function"])
  })
  return charges as ReadonlyArray<PreliminaryFreightCharge>
}
