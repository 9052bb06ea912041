/** What freight is, what it goes by, and what it costs. */

export interface Load {
  readonly bol: string
  /** The shipper's orders; several shipments may be of one, and one shipment of several. */
  readonly purchaseOrders: ReadonlyArray<string>
  readonly description: string
  readonly unitType: "PLT" | "SKD" | "CRT" | "DRM"
  readonly units: number
  /** Inches. */
  readonly size: { readonly length: number; readonly width: number; readonly height: number }
  readonly packaging: "CTN" | "BOX" | "BAG" | "DRM" | "PCS"
  readonly pieces: number
  /** Pounds, as the shipper wrote them on the bill of lading, and as the carrier's scale has them. */
  readonly weight: number
  readonly reweighed: number
  readonly freightClass: string
  readonly nmfc: string
  readonly nmfcSub: string
  readonly hazardous: boolean
  /** Codes of services beside the transport, each with its price in cents. */
  readonly accessorials: ReadonlyArray<{ readonly code: string; readonly cents: number }>
  /** Cents for a hundred pounds, before the discount. */
  readonly rate: number
  /** In tenths of a percent. */
  readonly discount: number
  readonly fuelSurcharge: number
}

/** What it comes to, in whole cents. */
export interface Cost {
  readonly gross: number
  readonly discount: number
  readonly fuel: number
  readonly accessorials: number
  readonly total: number
}

/** `extra` are cents for what was not ordered: a redelivery, a reconsignment. */
export const costOf = (load: Load, weight: number, extra: number): Cost => {
  const gross = Math.round(load.rate * weight / 100)
  const discount = Math.round(gross * load.discount / 1000)
  const fuel = Math.round((gross - discount) * load.fuelSurcharge / 1000)
  const accessorials = load.accessorials.reduce((sum, { cents }) => sum + cents, extra)
  return { gross, discount, fuel, accessorials, total: gross - discount + fuel + accessorials }
}

export const dollars = (cents: number): number => cents / 100
