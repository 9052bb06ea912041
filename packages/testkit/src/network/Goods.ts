/** Goods that customers of a network send. */
import type { Load } from "../journeys/Load.ts"

export interface Goods extends Pick<Load, "description" | "unitType" | "packaging" | "freightClass" | "nmfc" | "nmfcSub" | "hazardous" | "size"> {
  /** Minimum and maximum pounds of one handling unit. */
  readonly unitWeight: readonly [least: number, most: number]
  readonly piecesOfUnit: number
}

const pallet = (height: number): Goods["size"] => ({ length: 48, width: 40, height })

export const goods: ReadonlyArray<Goods> = [
  { description: "Hand tools, boxed", unitType: "PLT", packaging: "BOX", freightClass: "60", nmfc: "95190", nmfcSub: "02", hazardous: false, size: pallet(52), unitWeight: [480, 820], piecesOfUnit: 32 },
  { description: "Copy paper, cartons", unitType: "PLT", packaging: "CTN", freightClass: "55", nmfc: "150620", nmfcSub: "00", hazardous: false, size: pallet(46), unitWeight: [900, 1300], piecesOfUnit: 40 },
  { description: "Work wear, cartons", unitType: "PLT", packaging: "CTN", freightClass: "100", nmfc: "49880", nmfcSub: "05", hazardous: false, size: pallet(60), unitWeight: [260, 460], piecesOfUnit: 24 },
  { description: "Closet doors", unitType: "SKD", packaging: "PCS", freightClass: "77.5", nmfc: "39240", nmfcSub: "02", hazardous: false, size: { length: 84, width: 40, height: 48 }, unitWeight: [420, 700], piecesOfUnit: 20 },
  { description: "Ball bearings, steel", unitType: "SKD", packaging: "BOX", freightClass: "50", nmfc: "133300", nmfcSub: "00", hazardous: false, size: pallet(30), unitWeight: [1200, 2100], piecesOfUnit: 48 },
  { description: "Exercise machines", unitType: "CRT", packaging: "PCS", freightClass: "125", nmfc: "15520", nmfcSub: "04", hazardous: false, size: { length: 80, width: 40, height: 72 }, unitWeight: [340, 560], piecesOfUnit: 1 },
  { description: "Foam cushions", unitType: "PLT", packaging: "BAG", freightClass: "250", nmfc: "157320", nmfcSub: "01", hazardous: false, size: pallet(90), unitWeight: [90, 160], piecesOfUnit: 60 },
  { description: "Coffee, roasted, in bags", unitType: "PLT", packaging: "BAG", freightClass: "65", nmfc: "72740", nmfcSub: "00", hazardous: false, size: pallet(58), unitWeight: [700, 1100], piecesOfUnit: 36 },
  { description: "UN1263, Paint, 3, PG II", unitType: "DRM", packaging: "DRM", freightClass: "92.5", nmfc: "149980", nmfcSub: "02", hazardous: true, size: { length: 24, width: 24, height: 36 }, unitWeight: [380, 520], piecesOfUnit: 1 }
]
