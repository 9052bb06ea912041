/** Shared parts of shipment lookups and notifications (area A), in the published spelling. */
import type { OpenList } from "../shared/OpenList.ts"

/** ISO 3166 alpha-3 codes of the countries that area A names. */
export type CountryCode = "USA" | "CAN" | "MEX"

/** Identifiers of the shipment besides its PRO number. */
export interface ReferenceNumbers {
  readonly bolNumber: string | null
  readonly QuoteID: string | null
  readonly ShipmentID: string | null
  readonly MasterBOL: string | null
  /** May contain several, separated by commas or semicolons. */
  readonly poNumber: string | null
  readonly AdditionalReferences: string | null
  readonly trailerNumber: string | null
}

/** An address of area A. */
export interface StandardAddress {
  readonly addressName: string
  readonly addressLine1: string
  readonly addressLine2?: string | null
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly country: OpenList<CountryCode>
  readonly accountNumber?: string | null
}

/** What happened at a terminal. */
export type TerminalStatus = "Arrived" | "Unloaded" | "Loaded" | "Departed"

/** A terminal of the carrier. Members are `null` while unknown. */
export interface TerminalInfo {
  readonly TerminalID: string | null
  readonly AddressLine1?: string | null
  readonly AddressLine2?: string | null
  readonly City?: string | null
  readonly State?: string | null
  readonly PostalCode?: string | null
  readonly Country?: OpenList<CountryCode> | null
  readonly ContactName?: string | null
  readonly PhoneNumber?: string | null
  readonly EmailAddress?: string | null
  readonly TerminalStatus?: OpenList<TerminalStatus> | null
}

/** Freight of one kind: weight in `weightUnit`. */
export interface Commodity {
  readonly description?: string | null
  readonly weight?: number | null
  readonly weightUnit?: OpenList<"kg" | "lbs"> | null
  readonly pieces?: number | null
  readonly packagingType?: string | null
  /** Freight class. */
  readonly classification?: number | null
  readonly nmfc?: string | null
  readonly nmfcSub?: string | null
  readonly hazardous?: boolean
  readonly hazardousDescription?: string | null
  readonly hazmatContactName?: string | null
  readonly hazmatContactPhoneNumber?: string | null
  readonly nestedOrStacked?: OpenList<"Nested" | "Stacked"> | null
}

/** Handling units of one kind: weights in `weightUnit`, sizes in `dimensionsUnit`. */
export interface HandlingUnit {
  readonly index?: number | null
  readonly count?: number | null
  readonly type?: string | null
  readonly tareWeight?: number | null
  readonly weight?: number | null
  readonly weightUnit?: OpenList<"kg" | "lbs"> | null
  readonly length?: number
  readonly width?: number
  readonly height?: number
  readonly dimensionsUnit?: OpenList<"In" | "Ft" | "M" | "CM">
  readonly stackable?: boolean
}

/** Latest delivery time, for time-critical freight. */
export interface TimeCriticalInfo {
  readonly date?: string | null
  readonly windowStart?: string | null
  readonly windowEnd?: string | null
}

/** The agent or broker for customs, on the import or the export side. */
export interface CustomsAgentBroker {
  readonly type?: OpenList<"Import" | "Export">
  readonly name?: string
  readonly address1?: string
  readonly address2?: string
  readonly city?: string
  readonly stateProvince?: string
  readonly postalCode?: string
  readonly country?: string
  readonly contact?: {
    /** Ten digits. */
    readonly phone: string
    readonly phoneExt?: string
    readonly name?: string
    readonly email?: string
  }
}
