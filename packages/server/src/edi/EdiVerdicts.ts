/** What a partner made of our files, as text. */
import type { ReceivedAcknowledgement } from "@waybill/edi"
import { printable } from "../Printable.ts"

export const verdictText = (acknowledgement: ReceivedAcknowledgement): string => {
  if ("interchange" in acknowledgement) return printable(`interchange ${acknowledgement.interchange}: ${acknowledgement.verdict}, ${acknowledgement.code}`)
  const { functionalId, group, refused, verdict } = acknowledgement
  return printable(`group ${group} (${functionalId}): ${verdict}${refused.length === 0 ? "" : `, refused ${refused.join(", ")}`}`)
}
