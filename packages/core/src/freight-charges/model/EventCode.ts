/** The published event codes of freight bills, and the mapping of other codes to them. */

/** In published order. */
export const eventCodes = [
  "RCL", "RWE", "RCC", "DET", "MNC", "APTD", "APTP", "REP", "RES", "LFTD", "LFTP", "CBL", "ACTCHG", "LTDAD", "LTDAP", "STG", "LUM",
  "UNL", "INBC", "FINL", "OTHR", "CBC", "OVR", "DMIN", "CMIN", "VOR", "RDL", "SEC", "HIPU", "HIDL", "CCS", "COD", "EXPD", "FVC",
  "GTD_AM", "GTD_NOON", "GTD_PM", "HAZ", "IDL", "IPU", "INBD", "MARK", "PPD", "PSC", "PSH", "PSN", "SRT", "SS", "TCS"
] as const
export type EventCode = typeof eventCodes[number]

const known = new Set<string>(eventCodes)

/** Codes of published examples that are not in the published list, and the listed code that each means. */
const unlistedCodes: Readonly<Record<string, EventCode>> = { RCN: "RCC", INV: "FINL", CANCEL: "ACTCHG" }

/**
 * Maps a carrier's code to the published one, and returns the carrier's code if it differs. An unknown code becomes `OTHR` with the
 * carrier's code. SPEC-GAP-E7
 */
export const publishedCode = (carrierCode: string): { readonly eventCode: EventCode; readonly carrierCode?: string } => {
  const code = carrierCode.trim().toUpperCase()
  if (known.has(code)) return { eventCode: code as EventCode }
  const listed = Object.hasOwn(unlistedCodes, code) ? unlistedCodes[code] : undefined
  return { eventCode: listed ?? "OTHR", carrierCode: carrierCode.trim() }
}
