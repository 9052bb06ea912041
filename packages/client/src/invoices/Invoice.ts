/** Invoice of a carrier for one shipment (area B). Amounts are decimal text; do not convert them to floating-point numbers. */

export interface InvoiceComment {
  readonly id?: number
  readonly commentText?: string
}

/** The parties agree on the values of `type`. With a type such as `billToAccountNumber`, the value is an account with access to the invoice. */
export interface InvoiceAttribute {
  readonly id?: number
  readonly type?: string
  readonly value?: string
}

/** An exact amount: decimal text, never a float. */
export interface MonetaryAmount {
  /** ISO 4217, such as `USD`. */
  readonly currencyCode: string
  /** Such as `10.00`; at most 32 characters, kept as it was written. */
  readonly value: string
}

/** An address of an invoice (area B). `adminArea1` is the state or province. */
export interface PostalAddress {
  readonly streetAddress?: string
  readonly adminArea1?: string
  readonly adminArea2?: string
  readonly locality?: string
  readonly neighborhood?: string
  readonly postalCode?: string
  readonly postalExt?: string
  /** ISO 3166-1 alpha-3, such as `USA`. */
  readonly countryCode?: string
  readonly locationCode?: string
}

/** Who pays, how and until when. */
interface InvoiceTerms {
  readonly billingTerms?: "Prepaid" | "Collect" | "Third Party"
  readonly paymentTerms?: string
  /** Such as `2026-11-20`. */
  readonly paymentDueDate?: string
  readonly cancellationPolicy?: string
  readonly disputeResolution?: string
}

/** The parties, terms and total of an invoice. */
export interface InvoiceHeader {
  readonly consignor: { readonly consignorName?: string; readonly address?: PostalAddress }
  readonly consignee: { readonly consigneeID?: string; readonly consigneeName?: string; readonly address?: PostalAddress }
  readonly billingParty: { readonly billingPartyName?: string; readonly address?: PostalAddress }
  readonly terms: InvoiceTerms
  readonly invoiceNumber: string
  /** Such as `2026-11-20`. */
  readonly invoiceDate: string
  readonly invoiceAmount: MonetaryAmount
}

/** The person who authorized a charge. */
interface ChargeAuthorizer {
  readonly authorizerTitle?: string
  readonly authorizerName?: string
  readonly authorizerFirstName?: string
  readonly authorizerMiddleInitial?: string
  readonly authorizerLastName?: string
  readonly authorizerNumber?: string
  readonly phoneNumber?: string
  readonly email?: string
}

interface AnyCharge {
  readonly chargeCode: string
  readonly chargeUnitCode: "FLAT" | "UNIT_RATE"
  readonly accountCode?: string
  readonly chargeDescription?: string
  readonly specialInstructions?: string
  readonly hazmat?: string
  readonly stopNumber?: string
  readonly cost?: MonetaryAmount
  readonly quantity?: { readonly unitOfMeasure?: string; readonly value?: number }
  readonly comments?: ReadonlyArray<InvoiceComment>
  readonly chargeAuthorizerDetails?: ChargeAuthorizer
  readonly chargeDiscount?: { readonly discountTypeCode?: "DISCOUNT_APPLIED" | "UNDISCOUNTED"; readonly discountValue?: number }
}

interface Measured<Unit extends string> {
  readonly unitOfMeasure: Unit
  readonly value: number
}

interface Freight {
  readonly freightClassCode?: string
  readonly weight?: Measured<"Pounds" | "Kilograms">
  readonly dimension?: { readonly length?: Measured<string>; readonly width?: Measured<string>; readonly height?: Measured<string> }
  readonly stackable?: boolean
}

/** A charge for the whole shipment, such as the line haul. */
export interface BaseCharge extends AnyCharge {
  readonly chargeType: "BASE_CHARGE"
}

/** A charge for one item. */
export interface ItemCharge extends AnyCharge, Freight {
  readonly chargeType: "ITEM_CHARGE"
  readonly itemId: number
  readonly itemUUID?: string
  readonly itemDescription?: string
  readonly nmfcNumber?: string
  readonly itemPackageType?: string
  readonly itemPackageQuantity?: number
}

/** A charge for one handling unit. */
export interface HandlingUnitCharge extends AnyCharge, Freight {
  readonly chargeType: "HANDLING_UNIT_CHARGE"
  readonly handlingUnitId: number
  readonly handlingUnitUUID?: string
  readonly handlingUnitDescription?: string
  readonly handlingUnitPackageType?: string
  readonly handlingUnitPackageQuantity?: number
}

/** A line of an invoice; `chargeType` says which kind. */
export type InvoiceCharge = BaseCharge | ItemCharge | HandlingUnitCharge

/** Unknown members are stored and returned. */
export interface Invoice {
  /** Identifies the invoice within its carrier. */
  readonly uniqueID: string
  readonly shipmentID: string
  /** `DOT` or `MC` may be empty, not both. */
  readonly DOT: string
  readonly MC: string
  readonly invoiceHeader: InvoiceHeader
  readonly invoiceCharges: ReadonlyArray<InvoiceCharge>
  readonly attributes?: ReadonlyArray<InvoiceAttribute>
  readonly comments?: ReadonlyArray<InvoiceComment>
}

/** Selects a carrier, when several used the same id or invoice number. */
export interface CarrierNumbers {
  readonly DOT?: string | undefined
  readonly MC?: string | undefined
}
