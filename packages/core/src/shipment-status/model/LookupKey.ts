/** Lookup keys of shipments, from normalised numbers. SPEC-GAP-A3 */
import type { ReferenceNumbers, StandardAddress } from "./FreightShapes.ts"

/** Normalises a number: upper case, without blanks and hyphens. Leading zeros and check digits stay. */
export const plainNumber = (text: string): string => text.replaceAll(/[\s-]+/gu, "").toUpperCase()

/** Normalises a postal code: a US code has its first five digits. Seven to nine digits are a ZIP+4, possibly without its leading zeros. */
export const plainPostalCode = (text: string): string => {
  const plain = plainNumber(text)
  if (!/^\d+$/.test(plain)) return plain
  return (plain.length >= 7 ? plain.padStart(9, "0") : plain).slice(0, 5)
}

/** Normalises an address's postal code, and restores a US code's lost leading zeros. */
export const postalCodeOf = (address: Pick<StandardAddress, "postalCode" | "country">): string => {
  const plain = plainPostalCode(address.postalCode)
  return address.country === "USA" && /^\d{3,4}$/.test(plain) ? plain.padStart(5, "0") : plain
}

/** Every spelling that finds an address, because a caller's US code may have lost its leading zeros too. */
const postalCodesOf = (address: Pick<StandardAddress, "postalCode" | "country">): ReadonlyArray<string> => {
  const code = postalCodeOf(address)
  return address.country === "USA" && /^0\d{4}$/.test(code) ? [code, code.replace(/^00?/, "")] : [code]
}

/** A caller's description of one shipment. */
export type LookupBy =
  | { readonly kind: "pro"; readonly proNumber: string }
  | { readonly kind: "bol"; readonly bolNumber: string; readonly originPostalCode: string }
  | { readonly kind: "po"; readonly poNumber: string; readonly destinationPostalCode: string }

const proKey = (pro: string): string | undefined => whole("pro", plainNumber(pro))
const bolKey = (bol: string, postalCode: string): string | undefined => whole("bol", plainNumber(bol), postalCode)
const poKey = (po: string, postalCode: string): string | undefined => whole("po", plainNumber(po), postalCode)

/** Joins the parts of a key; `undefined` if one is empty. Parts contain no blanks, so a key is unambiguous. */
const whole = (kind: string, ...parts: ReadonlyArray<string>): string | undefined =>
  parts.every((part) => part !== "") ? [kind, ...parts].join(" ") : undefined

/** Builds the key of a lookup; `undefined` when no shipment can have it. */
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

/** Search terms for a number of unknown kind: a PRO, or a bill of lading or purchase order with any postal code. */
export const searchOf = (text: string) => {
  const plain = plainNumber(text)
  return { shipmentId: text, keys: [`pro ${plain}`], prefixes: [`bol ${plain} `, `po ${plain} `] }
}

/** A reference from intake, in addition to the published fields. */
export interface ExtraReference {
  readonly type: string
  readonly value: string
}

/** The fields of a shipment that determine its keys. */
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

/** Splits a text with several purchase orders. */
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

/** Whether a PRO lookup with this number finds the shipment. */
export const hasPro = (shipment: KeyedShipment, proNumber: string): boolean => numbersOf(shipment).pros.some((pro) => plainNumber(pro) === plainNumber(proNumber))

/** Builds every key that finds the shipment. */
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

/** Lists every reference that a subscription may name. The trailer number is left out, because one trailer carries many shipments. */
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
