/** Envelopes of files for a partner. */
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { declared, usualDelimiters } from "../x12/Delimiters.ts"
import type { EnvelopeOptions } from "../x12/SegmentWriter.ts"

export const envelopeOf = ({ delimiters, groups, isTest, lines, them, us }: PartnerProfile, version: string) => ({
  sender: us,
  receiver: them,
  groupSender: groups?.us,
  groupReceiver: groups?.them,
  delimiters: declared(delimiters ?? usualDelimiters, version),
  version,
  isTest,
  lines
}) satisfies EnvelopeOptions
