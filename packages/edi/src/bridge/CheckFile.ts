/** Tries a partner profile on a file: everything is read and checked as intake would check it, nothing is stored. */
import { canonicalText, checkOptions, type InvalidInput, type OptionKinds, optionKinds, readInput } from "@waybill/core"
import { Invoice, InvoiceExists } from "@waybill/core/invoices"
import { CarrierDecision, namedAccounts, PickupRequest, pickupRequestFaults, withNulls } from "@waybill/core/pickups"
import { ReportedEvent } from "@waybill/core/transit-events"
import { Hash, type Result } from "effect"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import type { EdiPickupAnswer } from "../pickups/Answers.ts"
import type { EdiPickupOrder } from "../pickups/Orders.ts"
import type { EdiEvent } from "../transit-events/TransitEvents214.ts"
import type { EdiHandlers, Handler, HandlerFault } from "./EdiHandlers.ts"
import type { FileReport, SetResult } from "./EdiResults.ts"
import { receiveFile, type ReceiveOptions } from "./ReceiveFile.ts"

const event = readInput(ReportedEvent)
const invoice = readInput(Invoice)
const request = readInput(PickupRequest)
const decision = readInput(CarrierDecision)

/** The faults that intake would report for one item. Pointers are inside the item. */
type Check<Item> = (item: Item) => ReadonlyArray<HandlerFault>

const faultsOf = (result: Result.Result<unknown, InvalidInput>): ReadonlyArray<HandlerFault> => result._tag === "Failure" ? result.failure.faults : []

/** All faults except that the window is over, which depends on the time of arrival. */
const orderFaults = ({ accounts = [] }: PartnerProfile): Check<EdiPickupOrder> => (order) => {
  const read = request(withNulls(order.request))
  if (read._tag === "Failure") return read.failure.faults
  const foreign = namedAccounts(read.success).filter(({ account }) => !accounts.includes(account))
  return [
    ...pickupRequestFaults(read.success),
    ...foreign.map(({ account, path }) => ({ pointer: `/${path.map(String).join("/")}`, detail: `The account ${account} is not one of the partner profile, accounts.` }))
  ]
}

const answerFaults: Check<EdiPickupAnswer> = ({ decision: word, scac }) => faultsOf(decision({ decision: word, scac }))

/** The memory of a check is bounded; a longer file misses repetitions. */
const maxRemembered = 1_000_000

interface Kind<Item> {
  readonly check: Check<Item>
  readonly idOf: (item: Item) => string | undefined
  /** The fault of a known id with other content; by default it is a duplicate. */
  readonly conflict?: ((id: string) => string) | undefined
}

/** Refuses what intake would refuse. Ids that it has seen are duplicates. */
const checking = <Item>({ check, conflict, idOf }: Kind<Item>, keep: (id: string, item: Item) => void): Handler<Item> => {
  const seen = new Map<string, number>()
  const resultOf = (item: Item): "accepted" | "duplicate" | string => {
    const id = idOf(item)
    if (id === undefined) return "accepted"
    const content = conflict === undefined ? 0 : Hash.string(canonicalText(item))
    const known = seen.get(id)
    if (known === undefined && seen.size < maxRemembered) seen.set(id, content)
    keep(id, item)
    return known === undefined ? "accepted" : known === content ? "duplicate" : conflict!(id)
  }
  return async (items) => {
    const faults = items.flatMap((item, index) => check(item).map((fault) => ({ ...fault, pointer: `/${index}${fault.pointer ?? ""}` })))
    if (faults.length > 0) throw Object.assign(new Error("refused"), { faults })
    return items.map((item) => {
      const result = resultOf(item)
      return result === "accepted" || result === "duplicate" ? { result } : { result: "refused", faults: [{ detail: result }] }
    })
  }
}

/** What is reported while a file is checked. */
export interface CheckOptions {
  /** Called for each set, with what it would become: events, an invoice, an order or an answer. */
  readonly onResult?: ((result: SetResult, items: ReadonlyArray<unknown>) => void) | undefined
}

/** Reads a file as `receiveFile` does, and stores nothing. */
export const checkFile = async (partner: PartnerProfile, chunks: ReceiveOptions["chunks"], options: CheckOptions = {}): Promise<FileReport> => {
  checkOptions("checkFile", options, { onResult: optionKinds.function } satisfies OptionKinds<CheckOptions>)
  const { onResult } = options
  const items = new Map<string, unknown>()
  const keep = (id: string, item: unknown) => void items.set(id, item)
  const handlers: EdiHandlers = {
    transitEvents: checking<EdiEvent>({ check: (item) => faultsOf(event(item)), idOf: ({ eventId }) => eventId }, keep),
    invoices: checking<Invoice>({ check: (item) => faultsOf(invoice(item)), idOf: ({ uniqueID }) => uniqueID, conflict: (uniqueID) => new InvoiceExists({ uniqueID }).message }, keep),
    pickups: checking({ check: orderFaults(partner), idOf: ({ key }) => key, conflict: () => "Another order came with the same control numbers." }, keep),
    pickupAnswers: checking({ check: answerFaults, idOf: ({ key }) => key }, keep)
  }
  return receiveFile({
    partner,
    chunks,
    handlers,
    controlNumbers: async (count) => Array.from({ length: count }, () => 1),
    onResult: (result) => {
      onResult?.(result, result.records.map(({ id }) => items.get(id)))
      for (const { id } of result.records) items.delete(id)
    }
  })
}
