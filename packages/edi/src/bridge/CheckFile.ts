/** Tries a partner profile on a file: everything is read and checked, nothing is stored. */
import { type InvalidInput, readInput } from "@waybill/core"
import { Invoice } from "@waybill/core/invoices"
import { ReportedEvent } from "@waybill/core/transit-events"
import type { Result } from "effect"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import type { EdiHandlers, Handler } from "./EdiHandlers.ts"
import type { FileReport, SetResult } from "./EdiResults.ts"
import { receiveFile, type ReceiveOptions } from "./ReceiveFile.ts"

const event = readInput(ReportedEvent)
const invoice = readInput(Invoice)

type Decode = (input: unknown, prefix: ReadonlyArray<PropertyKey>) => Result.Result<unknown, InvalidInput>

/** Refuses what intake would refuse. Ids that it has seen are duplicates. */
const checking = <Item>(read: Decode, idOf: (item: Item) => string | undefined): Handler<Item> => {
  const seen = new Set<string>()
  return async (items) => {
    const faults = items.flatMap((item, index) => {
      const result = read(item, [index])
      return result._tag === "Failure" ? result.failure.faults : []
    })
    if (faults.length > 0) throw Object.assign(new Error("refused"), { faults })
    return items.map((item) => {
      const id = idOf(item)
      const result = id !== undefined && seen.has(id) ? "duplicate" : "accepted"
      // the memory of a check is bounded; a longer file misses repetitions
      if (id !== undefined && seen.size < 1_000_000) seen.add(id)
      return { result }
    })
  }
}

const handlers = (): EdiHandlers => ({
  transitEvents: checking(event, ({ eventId }) => eventId),
  invoices: checking(invoice, ({ uniqueID }) => uniqueID)
})

export const checkFile = (
  partner: PartnerProfile,
  chunks: ReceiveOptions["chunks"],
  onResult?: (result: SetResult) => void
): Promise<FileReport> => receiveFile({ partner, chunks, handlers: handlers(), onResult, nextControlNumber: async () => 1 })
