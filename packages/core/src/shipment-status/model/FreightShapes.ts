/** Schemas that shipment status shares with other interfaces, in the published spelling. Unknown fields are dropped. */
import { Schema, SchemaGetter } from "effect"
import { parseInstant } from "../../shared/Instant.ts"
import { Integer, Measure, nullish } from "../../shared/Members.ts"
import { BrokerType, CountryCode, DimensionsUnit, NestedOrStacked, TerminalStatus, WeightUnit } from "./CodeLists.ts"

/** Text that every store can hold: no control characters except tabs and line ends, no unpaired surrogates. */
export const plainText = (maxLength: number) =>
  Schema.String.check(
    Schema.isMaxLength(maxLength, { message: `At most ${maxLength} characters.` }),
    Schema.isPattern(/^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u, { message: "Text without control characters." })
  )

/** `plainText` that is not blank. */
export const someText = (maxLength: number) =>
  plainText(maxLength).check(Schema.isPattern(/\S/u, { message: `Text of 1 to ${maxLength} characters that is not blank.` }))

/** Text that may be left out. Some systems write blanks for a missing value, which is `null`. */
export const nullishText = (maxLength: number) =>
  nullish(plainText(maxLength)).pipe(Schema.decodeTo(nullish(Schema.String), {
    decode: SchemaGetter.transform((text) => text?.trim() === "" ? null : text),
    encode: SchemaGetter.transform((text) => text)
  }))

const orNull = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema)

/** Whether a text is a calendar date without a time. */
export const isDateOnly = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && parseInstant(`${text}T00:00:00Z`) !== undefined

/** A date, or a date-time with a UTC offset. A missing time is never filled in. SPEC-GAP-A9 */
export const DateOrInstant = Schema.String.check(
  Schema.makeFilter(
    (text: string) =>
      isDateOnly(text) || parseInstant(text) !== undefined ||
      "Use a date such as 2026-11-20, or a date-time with a UTC offset such as 2026-11-20T17:00:00-06:00.",
    {
      // A pattern, because generated clients turn the format date-time into a type that cannot hold a date.
      toJsonSchema: () => ({ pattern: "^\\d{4}-\\d{2}-\\d{2}(?:[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|[+-]\\d{2}:\\d{2}))?$" }),
      description: "A date, or a date-time with a UTC offset.",
      examples: ["2026-11-20", "2026-11-20T17:00:00-06:00"]
    }
  )
).annotate({ identifier: "DateOrInstant" })

/** The local calendar date of a date or date-time. */
export const localDate = (text: string): string => text.slice(0, 10)

const offsetShape = /^(?:UTC)?([+-])(?:(0?\d|1[0-4])(?::([0-5]\d))?|(0\d|1[0-4])([0-5]\d))$/u
const noOffset = /^(?:Z|UTC|[+-]?0{1,2}(?::?00)?)$/u

/** UTC offset of a place, such as `-6`. Forms like `UTC-06:00` are accepted too. */
export const UtcOffset = Schema.String.annotate({ identifier: "UtcOffset" }).check(
  Schema.makeFilter((text: string) => noOffset.test(text) || offsetShape.test(text) || "A UTC offset such as -6.")
)

/** Formats an offset for answers and notifications: `-6`, `+5:30`, `0`. SPEC-GAP-A20 */
export const plainOffset = (text: string): string => {
  const parts = noOffset.test(text) ? null : offsetShape.exec(text)
  if (parts === null) return noOffset.test(text) ? "0" : text
  const [, sign, hours, minutes, hoursTogether, minutesTogether] = parts
  const rest = minutes ?? minutesTogether ?? "00"
  return `${sign}${Number(hours ?? hoursTogether)}${rest === "00" ? "" : `:${rest}`}`
}

/** The place's offset in a date-time; `undefined` in one in UTC, which has no place, and in a date. */
export const offsetIn = (text: string): string | undefined => {
  const offset = text.slice(19).replace(/^\.\d+/u, "")
  return offset !== "" && offsetShape.test(offset) && !noOffset.test(offset) ? plainOffset(offset) : undefined
}

/** Numbers of a shipment (area A). Every member is present, `null` if unknown. SPEC-GAP-A25 */
export const ReferenceNumbers = Schema.Struct({
  bolNumber: orNull(plainText(100)),
  QuoteID: orNull(plainText(100)),
  ShipmentID: orNull(plainText(200)),
  MasterBOL: orNull(plainText(100)),
  /** May contain several purchase orders, separated by commas or semicolons. */
  poNumber: orNull(plainText(1000)),
  AdditionalReferences: orNull(plainText(1000)),
  trailerNumber: orNull(plainText(100))
}).annotate({ identifier: "ReferenceNumbers" })
export type ReferenceNumbers = typeof ReferenceNumbers.Type

/** An address (area A, standardAddress). SPEC-GAP-A25 */
export const StandardAddress = Schema.Struct({
  addressName: plainText(200),
  addressLine1: plainText(200),
  addressLine2: nullish(plainText(200)),
  city: plainText(100),
  state: plainText(20),
  postalCode: plainText(20),
  country: CountryCode,
  accountNumber: nullish(plainText(100))
}).annotate({ identifier: "StandardAddress" })
export type StandardAddress = typeof StandardAddress.Type

/** A terminal (area A, terminalInfo). Members are in Pascal case, as published. SPEC-GAP-A25 */
export const TerminalInfo = Schema.Struct({
  TerminalID: orNull(plainText(200)),
  AddressLine1: nullish(plainText(500)),
  AddressLine2: nullish(plainText(500)),
  City: nullish(plainText(200)),
  State: nullish(plainText(200)),
  PostalCode: nullish(plainText(40)),
  Country: nullish(CountryCode),
  ContactName: nullish(plainText(200)),
  PhoneNumber: nullish(plainText(50)),
  EmailAddress: nullish(plainText(200)),
  TerminalStatus: nullish(TerminalStatus)
}).annotate({ identifier: "TerminalInfo" })
export type TerminalInfo = typeof TerminalInfo.Type

/** One kind of goods in a shipment (area A, commodity). SPEC-GAP-A25 */
export const Commodity = Schema.Struct({
  description: nullish(plainText(1000)),
  weight: nullish(Measure),
  weightUnit: nullish(WeightUnit),
  pieces: nullish(Measure),
  packagingType: nullish(plainText(50)),
  classification: nullish(Measure),
  nmfc: nullish(plainText(50)),
  nmfcSub: nullish(plainText(50)),
  hazardous: Schema.optionalKey(Schema.Boolean),
  hazardousDescription: nullish(plainText(1000)),
  hazmatContactName: nullish(plainText(200)),
  hazmatContactPhoneNumber: nullish(plainText(50)),
  nestedOrStacked: nullish(NestedOrStacked)
}).annotate({ identifier: "Commodity" })

/** One pallet, crate or the like (area A, handlingUnit). SPEC-GAP-A25 */
export const HandlingUnit = Schema.Struct({
  index: nullish(Integer),
  count: nullish(Measure),
  type: nullish(plainText(50)),
  tareWeight: nullish(Measure),
  weight: nullish(Measure),
  weightUnit: nullish(WeightUnit),
  length: Schema.optionalKey(Measure),
  width: Schema.optionalKey(Measure),
  height: Schema.optionalKey(Measure),
  dimensionsUnit: Schema.optionalKey(DimensionsUnit),
  stackable: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "HandlingUnit" })

const TimeText = Schema.String.check(
  Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/u, { message: "A time of day such as 08:30:00." })
)

/** When a time-critical delivery is due (area A, timeCriticalInfo). SPEC-GAP-A25 */
export const TimeCriticalInfo = Schema.Struct({
  date: nullish(DateOrInstant),
  windowStart: nullish(TimeText),
  windowEnd: nullish(TimeText)
}).annotate({ identifier: "TimeCriticalInfo" })

/** A customs agent (area A, customsAgentBroker). SPEC-GAP-A25 */
export const CustomsAgentBroker = Schema.Struct({
  type: Schema.optionalKey(BrokerType),
  name: Schema.optionalKey(plainText(200)),
  address1: Schema.optionalKey(plainText(200)),
  address2: Schema.optionalKey(plainText(200)),
  city: Schema.optionalKey(plainText(100)),
  stateProvince: Schema.optionalKey(plainText(20)),
  postalCode: Schema.optionalKey(plainText(20)),
  country: Schema.optionalKey(plainText(3)),
  contact: Schema.optionalKey(Schema.Struct({
    phone: Schema.String.check(Schema.isPattern(/^\d{10}$/u, { message: "phone is ten digits, without country code or dashes." })),
    phoneExt: Schema.optionalKey(plainText(20)),
    name: Schema.optionalKey(plainText(200)),
    email: Schema.optionalKey(plainText(200))
  }))
}).annotate({ identifier: "CustomsAgentBroker" })

/** One item or a list: the interface shows one, senders use lists. Returned as it was sent. SPEC-GAP-A8 */
const oneOrMany = <S extends Schema.Top>(identifier: string, schema: S) =>
  Schema.Union([schema, Schema.Array(schema).check(Schema.isMaxLength(1000, { message: "At most 1000." }))]).annotate({ identifier })

/** One commodity or a list, returned as posted. SPEC-GAP-A8 */
export const Commodities = oneOrMany("Commodities", Commodity)
/** One handling unit or a list, returned as posted. SPEC-GAP-A8 */
export const HandlingUnits = oneOrMany("HandlingUnits", HandlingUnit)
