/** The published event codes of freight bills. The change log may have any code; it is sent as the carrier wrote it. SPEC-GAP-E7 */

/** In published order. */
export const eventCodes = [
  "RCL", "RWE", "RCC", "DET", "MNC", "APTD", "APTP", "REP", "RES", "LFTD", "LFTP", "CBL", "ACTCHG", "LTDAD", "LTDAP", "STG", "LUM",
  "UNL", "INBC", "FINL", "OTHR", "CBC", "OVR", "DMIN", "CMIN", "VOR", "RDL", "SEC", "HIPU", "HIDL", "CCS", "COD", "EXPD", "FVC",
  "GTD_AM", "GTD_NOON", "GTD_PM", "HAZ", "IDL", "IPU", "INBD", "MARK", "PPD", "PSC", "PSH", "PSN", "SRT", "SS", "TCS"
] as const
/** One of the 49 published event codes of the change log. */
export type EventCode = typeof eventCodes[number]

const known = new Set<string>(eventCodes)

/** Codes of published examples that are not in the published list, and the listed code that each means. */
const exampleCodes: Readonly<Record<string, EventCode>> = { RCN: "RCC", INV: "FINL", CANCEL: "ACTCHG", BILL: "OTHR" }

/** The published code that a code of a log entry means, in any case; `undefined` for a carrier's own. */
export const meaningOf = (code: unknown): EventCode | undefined => {
  if (typeof code !== "string") return undefined
  const plain = code.trim().toUpperCase()
  if (known.has(plain)) return plain as EventCode
  return exampleCodes[plain]
}
