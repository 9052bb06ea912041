/** A carrier's invoice for one shipment (area B). */
import { Schema } from "effect"
import { ShipmentId } from "../../shared/Identifier.ts"
import { parseInstant } from "../../shared/Instant.ts"
import { LargeInteger, listUpTo, textUpTo } from "../../shared/Members.ts"
import { moneyText } from "./Money.ts"

const short = textUpTo(200)
const long = textUpTo(10_000)
const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)

/** A carrier's number. It appears in URL paths, so it is printable and has no leading or trailing spaces. */
const carrierText = (what: string) =>
  Schema.String.check(
    Schema.isPattern(/^(?=.{1,200}$)[^\p{Cc}\p{Cs}\s](?:[^\p{Cc}\p{Cs}]*[^\p{Cc}\p{Cs}\s])?$/u, {
      message: `${what} is 1 to 200 printable characters without leading or trailing spaces.`
    })
  )

/** The carrier's `uniqueID` of an invoice: 1 to 200 printable characters. */
export const InvoiceId = carrierText("A uniqueID")
/** The carrier's number of an invoice, which its documents name: 1 to 200 printable characters. */
export const InvoiceNumber = carrierText("An invoiceNumber")

/** A DOT or MC number as written. One of the two may be empty. SPEC-GAP-B6 */
export const CarrierNumberText = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}\p{Cs}]{0,40}$/u, { message: "A DOT or MC number has at most 40 printable characters." })
)

/** A calendar date without a time. */
export const CalendarDate = Schema.String.annotate({ format: "date" }).check(
  Schema.makeFilter((given: string) => parseInstant(`${given}T00:00:00Z`) !== undefined || "Use a date such as 2026-11-20.")
)

/** A comment on an invoice or a charge (area B, Comment). */
export const InvoiceComment = Schema.Struct({ id: optional(LargeInteger), commentText: optional(long) }).annotate({ identifier: "Comment" })
export type InvoiceComment = typeof InvoiceComment.Type

/** At most 1,000 comments. */
export const InvoiceComments = listUpTo(InvoiceComment, 1000)

/** `type` is free text of the parties. Types that mean an account address the invoice to it. */
export const InvoiceAttribute = Schema.Struct({ id: optional(LargeInteger), type: optional(short), value: optional(long) }).annotate({
  identifier: "Attribute"
})
export type InvoiceAttribute = typeof InvoiceAttribute.Type

/** At most 1,000 attributes. */
export const InvoiceAttributes = listUpTo(InvoiceAttribute, 1000)

/** SPEC-GAP-B4: an amount needs both currency and value. */
const MonetaryAmount = Schema.Struct({
  currencyCode: Schema.String.check(Schema.isPattern(/^[A-Za-z]{3}$/u, { message: "currencyCode is a code of ISO 4217, such as USD." })),
  value: Schema.String.check(
    Schema.isPattern(moneyText, { message: "value is a decimal number as text, such as \"10.00\", with at most 32 characters." })
  )
}).annotate({ identifier: "MonetaryAmount" })
/** A currency and an exact decimal text (area B). SPEC-GAP-B4 */
export type MonetaryAmount = typeof MonetaryAmount.Type

const Address = Schema.Struct({
  streetAddress: optional(long),
  adminArea1: optional(short),
  adminArea2: optional(short),
  locality: optional(short),
  neighborhood: optional(short),
  postalCode: optional(short),
  postalExt: optional(short),
  countryCode: optional(
    Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/u, { message: "countryCode has three capital letters (ISO 3166-1 alpha-3), such as USA." }))
  ),
  locationCode: optional(short)
}).annotate({ identifier: "PostalAddress" })

const InvoiceHeader = Schema.Struct({
  consignor: Schema.Struct({ consignorName: optional(long), address: optional(Address) }),
  consignee: Schema.Struct({ consigneeID: optional(short), consigneeName: optional(long), address: optional(Address) }),
  billingParty: Schema.Struct({ billingPartyName: optional(long), address: optional(Address) }),
  terms: Schema.Struct({
    billingTerms: optional(Schema.Literals(["Prepaid", "Collect", "Third Party"])),
    paymentTerms: optional(long),
    paymentDueDate: optional(CalendarDate),
    cancellationPolicy: optional(long),
    disputeResolution: optional(long)
  }),
  invoiceNumber: InvoiceNumber,
  invoiceDate: CalendarDate,
  invoiceAmount: MonetaryAmount
}).annotate({ identifier: "InvoiceHeader" })

const measured = <S extends Schema.Top>(unitOfMeasure: S) => Schema.Struct({ unitOfMeasure, value: Schema.Finite })

const anyCharge = {
  chargeCode: short,
  chargeUnitCode: Schema.Literals(["FLAT", "UNIT_RATE"]),
  accountCode: optional(short),
  chargeDescription: optional(long),
  specialInstructions: optional(long),
  hazmat: optional(long),
  stopNumber: optional(Schema.String.check(Schema.isPattern(/^[0-9]{1,20}$/u, { message: "stopNumber has digits only." }))),
  cost: optional(MonetaryAmount),
  quantity: optional(Schema.Struct({ unitOfMeasure: optional(short), value: optional(Schema.Finite) })),
  comments: optional(InvoiceComments),
  chargeAuthorizerDetails: optional(Schema.Struct({
    authorizerTitle: optional(short),
    authorizerName: optional(long),
    authorizerFirstName: optional(short),
    authorizerMiddleInitial: optional(short),
    authorizerLastName: optional(short),
    authorizerNumber: optional(short),
    phoneNumber: optional(short),
    email: optional(long)
  })),
  chargeDiscount: optional(Schema.Struct({
    discountTypeCode: optional(Schema.Literals(["DISCOUNT_APPLIED", "UNDISCOUNTED"])),
    discountValue: optional(Schema.Finite)
  }))
}

/** Fields that items and handling units share. */
const freight = {
  freightClassCode: optional(short),
  weight: optional(measured(Schema.Literals(["Pounds", "Kilograms"]))),
  dimension: optional(Schema.Struct({ length: optional(measured(short)), width: optional(measured(short)), height: optional(measured(short)) })),
  stackable: optional(Schema.Boolean)
}

/** SPEC-GAP-B3: `chargeType` selects the variant. */
const InvoiceCharge = Schema.Union([
  Schema.Struct({ chargeType: Schema.Literal("BASE_CHARGE"), ...anyCharge }).annotate({ identifier: "Charge" }),
  Schema.Struct({
    chargeType: Schema.Literal("ITEM_CHARGE"),
    ...anyCharge,
    itemId: LargeInteger,
    itemUUID: optional(short),
    itemDescription: optional(long),
    nmfcNumber: optional(short),
    itemPackageType: optional(short),
    itemPackageQuantity: optional(Schema.Finite),
    ...freight
  }).annotate({ identifier: "ItemCharge" }),
  Schema.Struct({
    chargeType: Schema.Literal("HANDLING_UNIT_CHARGE"),
    ...anyCharge,
    handlingUnitId: LargeInteger,
    handlingUnitUUID: optional(short),
    handlingUnitDescription: optional(long),
    handlingUnitPackageType: optional(short),
    handlingUnitPackageQuantity: optional(Schema.Finite),
    ...freight
  }).annotate({ identifier: "HandlingUnitCharge" })
]).annotate({ identifier: "InvoiceCharge", message: "A charge has a chargeType: BASE_CHARGE, ITEM_CHARGE or HANDLING_UNIT_CHARGE." })

/** Unknown fields are kept and returned. SPEC-GAP-B5 */
export const Invoice = Schema.Struct({
  uniqueID: InvoiceId,
  shipmentID: ShipmentId,
  DOT: CarrierNumberText,
  MC: CarrierNumberText,
  invoiceHeader: InvoiceHeader,
  invoiceCharges: listUpTo(InvoiceCharge, 10_000),
  attributes: optional(InvoiceAttributes),
  comments: optional(InvoiceComments)
}).annotate({ identifier: "Invoice" })
export type Invoice = typeof Invoice.Type
