/** Envelopes of files for a partner. */
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { usualDelimiters } from "../x12/Delimiters.ts"
import type { EnvelopeOptions } from "../x12/SegmentWriter.ts"

export const envelopeOf = ({ delimiters, groups, isTest, lines, them, us, version }: PartnerProfile): EnvelopeOptions => ({
  sender: us,
  receiver: them,
  groupSender: groups?.us,
  groupReceiver: groups?.them,
  delimiters: delimiters ?? usualDelimiters,
  version,
  isTest,
  lines
})
