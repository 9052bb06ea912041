/** What a shipment is found by: numbers as people type them, brought to one spelling. SPEC-GAP-A3 */
import type { ReferenceNumbers, StandardAddress } from "./FreightShapes.ts"

/** A number or reference without what people put in for the eye. Leading zeros and check digits count. */
export const plainNumber = (text: string): string => text.replaceAll(/[\s-]+/gu, "").toUpperCase()

/** A postal code as it is compared: a US code by its first five digits. Only ZIP+4 has seven or more, and nine of them when whole. */
export const plainPostalCode = (text: string): string => {
  const plain = plainNumber(text)
  if (!/^\d+$/.test(plain)) return plain
  return (plain.length >= 7 ? plain.padStart(9, "0") : plain).slice(0, 5)
}

/** The same of an address, where a US code may have lost its leading zeros on the way. */
export const postalCodeOf = (address: Pick<StandardAddress, "postalCode" | "country">): string => {
  const plain = plainPostalCode(address.postalCode)
  return address.country === "USA" && /^\d{3,4}$/.test(plain) ? plain.padStart(5, "0") : plain
}

/** Every spelling that finds an address: whoever asks may have lost a US code's leading zeros too. */
const postalCodesOf = (address: Pick<StandardAddress, "postalCode" | "country">): ReadonlyArray<string> => {
  const code = postalCodeOf(address)
  return address.country === "USA" && /^0\d{4}$/.test(code) ? [code, code.replace(/^00?/, "")] : [code]
}

/** How a caller names one shipment. */
export type LookupBy =
  | { readonly kind: "pro"; readonly proNumber: string }
  | { readonly kind: "bol"; readonly bolNumber: string; readonly originPostalCode: string }
  | { readonly kind: "po"; readonly poNumber: string; readonly destinationPostalCode: string }

const proKey = (pro: string): string | undefined => whole("pro", plainNumber(pro))
const bolKey = (bol: string, postalCode: string): string | undefined => whole("bol", plainNumber(bol), postalCode)
const poKey = (po: string, postalCode: string): string | undefined => whole("po", plainNumber(po), postalCode)

/** A part that is empty finds nothing; the parts hold no blanks, so a key reads one way only. */
const whole = (kind: string, ...parts: ReadonlyArray<string>): string | undefined =>
  parts.every((part) => part !== "") ? [kind, ...parts].join(" ") : undefined

/** The key of a lookup, or `undefined` when nothing can have it. */
export const keyOf = (by: LookupBy): string | undefined => {
  switch (by.kind) {
    case "pro":
      return proKey(by.proNumber)
    case "bol":
      return bolKey(by.bolNumber, plainPostalCode(by.originPostalCode))
    case "po":
      return poKey(by.poNumber, plainPostalCode(by.destinationPostalCode))
  }
}

/** What finds a number that may be any of a shipment's: a bill of lading or a purchase order at whatever postal code. */
export const searchOf = (text: string) => {
  const plain = plainNumber(text)
  return { shipmentId: text, keys: [`pro ${plain}`], prefixes: [`bol ${plain} `, `po ${plain} `] }
}

/** A reference that intake gives beside the published fields. */
export interface ExtraReference {
  readonly type: string
  readonly value: string
}

/** What of a shipment gives it its keys. */
export interface KeyedShipment {
  readonly shipmentId: string
  readonly ProNumber: string
  readonly UpdatedPro: string | null
  readonly UniqueID: string
  readonly ReferenceNumbers: ReferenceNumbers
  readonly PickupAddress: Pick<StandardAddress, "postalCode" | "country">
  readonly ConsigneeAddress: Pick<StandardAddress, "postalCode" | "country">
  readonly references: ReadonlyArray<ExtraReference>
}

/** Several purchase orders stand in one text. */
const listed = (text: string | null): ReadonlyArray<string> => text === null ? [] : text.split(/[,;|]/u)

const ofType = (shipment: KeyedShipment, type: string): ReadonlyArray<string> =>
  shipment.references.filter((each) => plainNumber(each.type) === type).map((each) => each.value)

const numbersOf = (shipment: KeyedShipment) => {
  const { MasterBOL, bolNumber, poNumber } = shipment.ReferenceNumbers
  return {
    pros: [shipment.ProNumber, shipment.UpdatedPro ?? "", ...ofType(shipment, "PRO")],
    bols: [bolNumber ?? "", MasterBOL ?? "", ...ofType(shipment, "BOL"), ...ofType(shipment, "MASTERBOL")],
    pos: [...(poNumber === null ? [] : [poNumber]), ...listed(poNumber), ...ofType(shipment, "PO").flatMap((value) => [value, ...listed(value)])]
  }
}

/** Every key that finds the shipment. */
export const keysOf = (shipment: KeyedShipment): ReadonlyArray<string> => {
  const { bols, pos, pros } = numbersOf(shipment)
  const origins = postalCodesOf(shipment.PickupAddress)
  const destinations = postalCodesOf(shipment.ConsigneeAddress)
  const keys = [
    ...pros.map(proKey),
    ...bols.flatMap((bol) => origins.map((origin) => bolKey(bol, origin))),
    ...pos.flatMap((po) => destinations.map((destination) => poKey(po, destination)))
  ]
  return [...new Set(keys.filter((key) => key !== undefined))]
}

/** Every reference that a subscription may name it by. A trailer carries many shipments, so its number is none. */
export const referencesOf = (shipment: KeyedShipment): ReadonlyArray<string> => {
  const { AdditionalReferences, QuoteID, ShipmentID } = shipment.ReferenceNumbers
  const { bols, pos, pros } = numbersOf(shipment)
  const values = [
    shipment.shipmentId,
    shipment.UniqueID,
    ...pros,
    ...bols,
    ...pos,
    QuoteID ?? "",
    ShipmentID ?? "",
    AdditionalReferences ?? "",
    ...listed(AdditionalReferences),
    ...shipment.references.map((each) => each.value)
  ]
  return [...new Set(values.map(plainNumber).filter((value) => value !== ""))]
}
