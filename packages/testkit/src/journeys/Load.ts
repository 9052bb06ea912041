/** The goods, reference numbers and price of freight. */

export interface Load {
  readonly bol: string
  /** Purchase orders; a shipment may have several, and several shipments may share one. */
  readonly purchaseOrders: ReadonlyArray<string>
  readonly description: string
  readonly unitType: "PLT" | "SKD" | "CRT" | "DRM"
  readonly units: number
  /** Inches. */
  readonly size: { readonly length: number; readonly width: number; readonly height: number }
  readonly packaging: "CTN" | "BOX" | "BAG" | "DRM" | "PCS"
  readonly pieces: number
  /** Pounds: as stated on the bill of lading, and as measured by the carrier. */
  readonly weight: number
  readonly reweighed: number
  readonly freightClass: string
  readonly nmfc: string
  readonly nmfcSub: string
  readonly hazardous: boolean
  /** Accessorial codes, each with its price in cents. */
  readonly accessorials: ReadonlyArray<{ readonly code: string; readonly cents: number }>
  /** Cents for a hundred pounds, before the discount. */
  readonly rate: number
  /** In tenths of a percent. */
  readonly discount: number
  readonly fuelSurcharge: number
}

/** The total, in whole cents. */
export interface Cost {
  readonly gross: number
  readonly discount: number
  readonly fuel: number
  readonly accessorials: number
  readonly total: number
}

/** `extra`: cents for services that were not ordered, such as a redelivery or a reconsignment. */
export const costOf = (load: Load, weight: number, extra: number): Cost => {
  const gross = Math.round(load.rate * weight / 100)
  const discount = Math.round(gross * load.discount / 1000)
  const fuel = Math.round((gross - discount) * load.fuelSurcharge / 1000)
  const accessorials = load.accessorials.reduce((sum, { cents }) => sum + cents, extra)
  return { gross, discount, fuel, accessorials, total: gross - discount + fuel + accessorials }
}

export const dollars = (cents: number): number => cents / 100
