/** 990 as the answer to an order of a pickup, in both directions. */
import { finish, type ReadOne, readSetInSteps, type Steps } from "../mapping/ReadSet.ts"
import { type WriteSetResult, writeSet } from "../mapping/WriteSet.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { type EdiFault, elementFaults } from "../x12/EdiFault.ts"
import { keyOfSet, type TransactionSet } from "../x12/Interchange.ts"
import { mapping990 } from "./Mapping990.ts"

/** An answer to a pickup order. */
export interface EdiPickupAnswer {
  /** Of an answer that was read. Made of the control numbers: use it as the idempotency key. */
  readonly key?: string
  /** Of an answer that was read: ISA-09, `YYMMDD`, which is part of the key. */
  readonly interchangeDate?: string
  readonly scac: string
  readonly shipmentNumber: string
  readonly decision: "accept" | "reject"
  readonly date?: string
  readonly references?: ReadonlyArray<{ readonly type: string; readonly value: string }>
  readonly message?: string
}

/** Reads a 990: the answer to an order of ours. */
export const answerOf990 = (set: TransactionSet, partner: PartnerProfile): ReadOne<EdiPickupAnswer> => finish(readAnswer(set, partner))

export function* readAnswer(set: TransactionSet, partner: PartnerProfile): Steps<ReadOne<EdiPickupAnswer>> {
  const { faults, kept, records: [read], warnings } = yield* readSetInSteps(mapping990, set, partner)
  const answer = read?.record as unknown as EdiPickupAnswer | undefined
  const unknown: ReadonlyArray<EdiFault> = faults.length === 0 && answer?.decision === undefined
    ? [{ level: "element", code: elementFaults.code, segment: "B1", position: 2, element: 4, detail: "B1-04 is A (accepted) or D (declined)." }]
    : []
  const all = [...faults, ...unknown]
  return { value: all.length > 0 || answer === undefined ? undefined : { key: `edi:${keyOfSet(set)}`, interchangeDate: set.interchange.date, ...answer }, sources: read?.sources ?? new Map(), faults: all, warnings, kept }
}

/** Writes the answer to a 204 as a 990. */
export const write990 = ({ interchangeDate: _date, key: _key, ...answer }: EdiPickupAnswer, partner: PartnerProfile, version: string = partner.version): WriteSetResult =>
  writeSet(mapping990, answer, partner, version)
