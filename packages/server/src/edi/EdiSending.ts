/** Writes new items for a partner: statuses (214) and invoices (210) on its accounts, and answers (990) to its orders. */
import { AuditLog, type Principal } from "@waybill/core"
import { type Invoice, Invoices } from "@waybill/core/invoices"
import { type PickupChangeEntry, type PickupRecord, Pickups } from "@waybill/core/pickups"
import { TransitEvents } from "@waybill/core/transit-events"
import { type EdiEvent, type EdiPickupAnswer, isCodeOfCharge, type PartnerProfile, writeInvoices, writePickupAnswers, writeTransitEvents } from "@waybill/edi"
import { directoryTransport, type FeedPage, type IdlePosition, outgoingLog, type SendNewOptions, type SentFile, sendNew, startOutgoing } from "@waybill/edi/transports"
import { Effect } from "effect"
import * as Clock from "effect/Clock"
import { join } from "node:path"
import type { EdiProblems } from "./EdiProblems.ts"
import { clientOf, type Partner } from "./EdiPartners.ts"
import { orderMarks, shipperOf } from "./EdiReceiving.ts"

export type SendingServices = AuditLog | Invoices | Pickups | TransitEvents

type WrittenSet = NonNullable<PartnerProfile["writes"]>[number]

const entriesPerPage = 100

const decoder = new TextDecoder()
const jsonOf = <A>(bytes: Uint8Array): A => JSON.parse(decoder.decode(bytes)) as A

/** What a feed returns, and how it is written. */
interface Outgoing<Item = never> {
  readonly next: SendNewOptions<Item>["next"]
  readonly write: SendNewOptions<Item>["write"]
}

const outgoingOf = Effect.fnUntraced(function*(partner: Partner) {
  const events = yield* TransitEvents
  const invoices = yield* Invoices
  const shipper = shipperOf(partner)
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const stored = <Item>(since: typeof events.since) => (position: string | undefined): Promise<FeedPage<Item>> =>
    run(Effect.map(since(shipper, position), ({ rows, ...page }) => ({ ...page, items: rows.map((row) => jsonOf<Item>(row)) })))
  const statuses: Outgoing<EdiEvent> = { next: stored(events.since), write: writeTransitEvents }
  const bills: Outgoing<Invoice> = { next: stored(invoices.since), write: writeInvoices }
  const decisions = yield* answersTo(partner)
  const answers: Outgoing<EdiPickupAnswer> = { next: (position) => run(decisions(position)), write: writePickupAnswers }
  return { "214": statuses, "210": bills, "990": answers } as unknown as Record<WrittenSet, Outgoing>
})

/** Reads the work list for decisions on orders of the partner. */
const answersTo = Effect.fnUntraced(function*(partner: Partner) {
  const pickups = yield* Pickups
  const client = clientOf(partner.profile)
  const all: Principal = { tenantId: partner.tenantId, client, roles: ["carrier"], accounts: [], origin: "key" }

  const answerTo = Effect.fnUntraced(function*(entry: PickupChangeEntry) {
    if (markOf(entry, orderMarks.set) !== "204") return []
    const record = yield* Effect.catchTag(pickups.record(all, entry.pickupId), "PickupNotFound", () => Effect.undefined)
    return record === undefined || record.client !== client ? [] : answerIn(record, entry)
  })

  return Effect.fnUntraced(function*(position: string | undefined) {
    const query = position === undefined ? { since: new Date(yield* Clock.currentTimeMillis).toISOString() } : { cursor: position }
    const { data, nextCursor } = yield* pickups.changes(all, { ...query, limit: entriesPerPage })
    const items = position === undefined ? [] : (yield* Effect.forEach(data, (entry) => answerTo(jsonOf<PickupChangeEntry>(entry)))).flat()
    return { items, position: nextCursor, more: position !== undefined && data.length === entriesPerPage }
  })
})

const markOf = ({ request }: Pick<PickupChangeEntry, "request">, type: string): string | undefined =>
  request.shipmentDetails?.[0]?.referenceNumbers?.find(({ referenceType }) => referenceType === type)?.referenceNumber ?? undefined

/** The answer, if the entry is the one with which the carrier decided the order. */
const answerIn = (record: PickupRecord, entry: PickupChangeEntry): ReadonlyArray<EdiPickupAnswer> => {
  const decided = record.history.find(({ status, what }) => status === "Accepted" || status === "Rejected" || (what === "reported" && status === "Cancelled"))
  const [scac, shipmentNumber] = [markOf(record, orderMarks.scac), record.request.shipmentDetails?.[0]?.shipperRef]
  if (decided === undefined || decided.at !== entry.at || decided.status !== entry.status || !scac || !shipmentNumber) return []
  const accepted = decided.status === "Accepted"
  const message = accepted ? undefined : decided.messages?.[0]
  return [{
    scac,
    shipmentNumber,
    decision: accepted ? "accept" : "reject",
    date: decided.at.slice(0, 10),
    ...accepted && record.carrierPickupNumber !== null ? { references: [{ type: "P8", value: record.carrierPickupNumber }] } : {},
    ...message === undefined ? {} : { message }
  }]
}

const logOf = ({ folder }: Partner, set: WrittenSet) => outgoingLog(join(folder, "outgoing", set))

/** Stores where the feeds end when the partner is new: later items are sent. */
export const startSending = Effect.fnUntraced(function*(partner: Partner) {
  const outgoing = yield* outgoingOf(partner)
  for (const set of partner.profile.writes ?? []) yield* Effect.promise(() => startOutgoing({ log: logOf(partner, set), next: outgoing[set].next }))
})

/** `idle`: positions of this process, by set. */
export const sendTo = Effect.fnUntraced(function*(partner: Partner, { idle, problems }: { readonly idle: Map<string, IdlePosition>; readonly problems: EdiProblems }) {
  const { folder, profile } = partner
  const outgoing = yield* outgoingOf(partner)
  for (const set of profile.writes ?? []) {
    const files: Array<SentFile> = []
    const position = idle.get(set) ?? {}
    idle.set(set, position)
    const sending = Effect.tryPromise({
      try: () => sendNew({ ...outgoing[set], partner: profile, transport: directoryTransport(folder), log: logOf(partner, set), idle: position, onFile: (file) => files.push(file) }),
      catch: (error) => error
    })
    yield* problems.logged(set, sending, (cause) =>
      Effect.logError("EDI file not written, trying again.", cause).pipe(Effect.annotateLogs({ tenant: partner.tenantId, partner: profile.partner, set })))
    for (const file of files) yield* logged(partner, set, file)
  }
})

/** Log lines about items that a file carries incompletely. Other members without an element are usual, and are not logged. */
const problemsIn = ({ notWritten }: SentFile) => {
  const refused = notWritten.filter((item) => item.refused)
  const uncoded = notWritten.filter((item) => !item.refused && item.members.some(isCodeOfCharge))
  const first = refused[0]?.members[0] ?? uncoded[0]?.members.find(isCodeOfCharge)
  const fields = {
    ...refused.length === 0 ? {} : { notWritten: refused.length },
    ...uncoded.length === 0 ? {} : { withoutCode: uncoded.length },
    ...first === undefined ? {} : { fault: `${first.member}: ${first.reason}` }
  }
  const log = refused.length > 0
    ? Effect.logWarning("EDI file written, without some items.")
    : uncoded.length > 0
    ? Effect.logWarning("EDI file written, with charges without a code. The partner takes them for the freight itself.")
    : Effect.logInfo("EDI file written.")
  return { fields, log }
}

const logged = Effect.fnUntraced(function*({ profile, tenantId }: Partner, set: WrittenSet, file: SentFile) {
  const { name, sets } = file
  const { fields, log } = problemsIn(file)
  yield* log.pipe(Effect.annotateLogs({ tenant: tenantId, partner: profile.partner, set, ...name === undefined ? {} : { file: name }, sets, ...fields }))
  if (name === undefined) return
  yield* (yield* AuditLog).later(
    { actor: { kind: "client", name: clientOf(profile) }, address: undefined, action: "edi.send", tenantId, object: { kind: "edi-file", id: name }, requestId: "" },
    { status: 200 }
  )
})
