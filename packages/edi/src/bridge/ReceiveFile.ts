/**
 * Reads a partner's file and passes its items to handlers. A set is stored as a whole or refused as a whole, a repeated file is a duplicate,
 * and everything is acknowledged.
 */
import { checkOptions, makePace, type OptionKinds, optionKinds } from "@waybill/core"
import { Effect } from "effect"
import { own } from "../mapping/Members.ts"
import type { Steps } from "../mapping/ReadSet.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { GroupAcknowledgement, interchangeAcknowledgement, type NamedSoFar } from "../x12/Acknowledgement.ts"
import type { Delimiters } from "../x12/Delimiters.ts"
import { type EdiFault, elementFaults, interchangeFaults, setFaults } from "../x12/EdiFault.ts"
import { type Interchange, keyOfSet, type TransactionSet } from "../x12/Interchange.ts"
import { hasControlCharacter, InterchangeReader, type X12Event } from "../x12/InterchangeReader.ts"
import { elementOf, type Segment } from "../x12/Segment.ts"
import { echoed, writeInterchange, type WrittenSegment, type WrittenSet } from "../x12/SegmentWriter.ts"
import { type EdiHandlers, type Handler, type HandlerFault, refusalIn } from "./EdiHandlers.ts"
import type { Acknowledgement, FileReport, GroupVerdict, ReceivedAcknowledgement, SetResult } from "./EdiResults.ts"
import { envelopeOf } from "./Envelopes.ts"
import { type ReadItem, type ReadItems, setReaders } from "./SetReaders.ts"

/** A file of a partner, and the handlers of its items. */
export interface ReceiveOptions {
  readonly partner: PartnerProfile
  readonly chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>
  readonly handlers: EdiHandlers
  /** Takes control numbers of this many interchanges to this partner, which acknowledge the file. */
  readonly controlNumbers: (count: number) => Promise<ReadonlyArray<number>>
  /** Called for each set, in the order of the file. */
  readonly onResult?: ((result: SetResult) => void | Promise<void>) | undefined
  readonly now?: (() => Date) | undefined
}

const { any, function: callback, object } = optionKinds

const kinds: OptionKinds<ReceiveOptions> = { partner: object, chunks: any, handlers: object, controlNumbers: callback, onResult: callback, now: callback }

/** Most items of one call of a handler: what one call of intake takes. */
const maxItemsPerCall = 1000
/** Most sets that wait for a call, and most segments that they were read from. */
const maxSetsPerCall = 200
const maxSegmentsPerCall = 50_000
const maxFaults = 100
/** Acknowledgements of the partner that a report has. */
const maxAcknowledged = 1_000
/** Characters or bytes of a chunk that are read at once. */
const longestPiece = 65_536
/** Segments of an acknowledgement that are written at once. */
const segmentsPerTurn = 200
/** Most acknowledgements that wait for control numbers, which are slow to take one by one. */
const maxWaiting = 100
/** Most interchanges of a file, and most groups: each of them is acknowledged. */
const maxInterchanges = 10_000
const maxGroups = 10_000

/** A set that was read and is not stored yet. */
interface Pending {
  readonly set: TransactionSet
  readonly read: ReadItems
  readonly faults: Array<EdiFault>
  readonly handler: keyof EdiHandlers | undefined
  results: ReadonlyArray<"accepted" | "duplicate">
}

/** The acknowledgement of an interchange: a TA1 segment or none, and the sets. */
interface Unnumbered {
  readonly control: ReadonlyArray<WrittenSegment>
  readonly sets: ReadonlyArray<WrittenSet>
}

/** Reads a file of any size piece by piece, hands its sets to the handlers and makes acknowledgements. Rejects when a handler fails other than by refusing an item. */
export const receiveFile = async (options: ReceiveOptions): Promise<FileReport> => {
  checkOptions("receiveFile", options, kinds)
  const receiving = new FileReceiving(options)
  const reader = new InterchangeReader({ encoding: options.partner.encoding })
  for await (const chunk of options.chunks) {
    // without a set that ends, a chunk of any length would be read at once
    for (let from = 0; from < chunk.length; from += longestPiece) {
      await receiving.turn()
      for (const event of reader.push(chunk.slice(from, from + longestPiece))) await receiving.take(event)
    }
  }
  for (const event of reader.end()) await receiving.take(event)
  await receiving.end()
  return receiving.report
}

class FileReceiving {
  readonly #options: ReceiveOptions
  readonly #counts = { interchanges: 0, accepted: 0, duplicates: 0, refused: 0 }
  readonly #faults: Array<EdiFault> = []
  readonly #acknowledged: Array<ReceivedAcknowledgement> = []
  readonly #acknowledgements: Array<Acknowledgement> = []
  #pending: Array<Pending> = []
  #items = 0
  #segments = 0
  readonly #pace = Effect.runSync(makePace)
  #refusal: EdiFault | undefined
  #group: GroupAcknowledgement | undefined
  readonly #named: NamedSoFar = { sets: 0, segments: 0 }
  #groups = 0
  /** The group has acknowledgements, which are not acknowledged. */
  #acknowledges = false
  /** Why the whole interchange is refused. */
  #refused: EdiFault | undefined
  #sets: Array<WrittenSet> = []
  /** Acknowledgements of interchanges that have no control number yet. */
  #waiting: Array<Unnumbered> = []
  #waitingSegments = 0

  constructor(options: ReceiveOptions) {
    this.#options = options
  }

  get report(): FileReport {
    return { ...this.#counts, faults: this.#faults, refusal: this.#refusal, acknowledged: this.#acknowledged, acknowledgements: this.#acknowledgements }
  }

  /** Yields to other work when the time slice is used up: a file may be large, and shares the event loop with everything else in the process. */
  async turn(): Promise<void> {
    if (this.#pace.isDue()) await Effect.runPromise(this.#pace.turn)
  }

  /** The file has ended. */
  async end(): Promise<void> {
    await this.#writeWaiting()
    if (this.#counts.interchanges === 0 && this.#faults.length === 0) this.#note([noInterchange])
  }

  async take(event: X12Event): Promise<void> {
    await this.turn()
    switch (event.kind) {
      case "unreadable":
        return this.#note([event.fault])
      case "interchange":
        this.#counts.interchanges += 1
        this.#sets = []
        this.#refused = this.#counts.interchanges > maxInterchanges ? tooMany : refusalOf(event.interchange, this.#options.partner)
        return
      case "group":
        this.#acknowledges = false
        this.#groups += 1
        if (this.#groups > maxGroups) this.#refused ??= tooManyGroups
        this.#group = this.#options.partner.acknowledge !== "none" && this.#refused === undefined ? new GroupAcknowledgement(event.group, kindOf(this.#options.partner), this.#named) : undefined
        return
      case "set":
        return this.#takeSet(event.set, event.faults)
      case "group-end":
        await this.#flush()
        this.#note(event.faults)
        // acknowledgements are not acknowledged, but any other set is, whatever GS-01 calls its group
        if (this.#group !== undefined && (this.#group.received > 0 || !this.#acknowledges && event.group.functionalId !== "FA")) this.#sets.push(this.#group.write(event.included, event.faults))
        this.#group = undefined
        return
      case "interchange-end":
        this.#takeVerdicts(event.verdicts)
        // acknowledging acknowledgements would never end
        if (event.isAcknowledgement) return this.#note(event.faults)
        return this.#acknowledge(event.interchange, [...this.#refused === undefined ? [] : [this.#refused], ...event.faults])
    }
  }

  #takeVerdicts(verdicts: ReadonlyArray<ReceivedAcknowledgement>) {
    if (this.#refused === undefined) this.#acknowledged.push(...verdicts.slice(0, maxAcknowledged - this.#acknowledged.length))
  }

  async #takeSet(set: TransactionSet, envelope: ReadonlyArray<EdiFault>): Promise<void> {
    const { handlers, partner } = this.#options
    if (set.id === "997" || set.id === "999") {
      this.#acknowledges = true
      // what a broken one says is not believed, but somebody should ask the partner
      if (envelope.length === 0) this.#takeVerdicts([verdictIn(set)])
      else this.#note(envelope)
      return
    }
    const reader = own(setReaders, set.id)
    const agreed = reader !== undefined && (partner.sets as ReadonlyArray<string>).includes(set.id) && handlers[reader.handler] !== undefined
    const notAgreed: EdiFault = { level: "set", code: setFaults.notSupported, segment: "ST", position: 1, element: 1, value: set.id, detail: `Transaction set ${set.id} has not been agreed with ${partner.partner}.` }
    const before = this.#refused !== undefined ? [this.#refused] : envelope.length > 0 ? envelope : agreed ? [] : [notAgreed]
    const read = before.length === 0 ? await this.#inTurns(reader!.read(set, partner)) : nothingRead
    // its content is in `read`: segments take many times the memory of their text
    this.#pending.push({ set: { ...set, segments: [] }, read, faults: [...before, ...read.faults], handler: reader?.handler, results: [] })
    this.#items += read.items.length
    this.#segments += set.segments.length
    if (this.#items >= maxItemsPerCall / 2 || this.#pending.length >= maxSetsPerCall || this.#segments >= maxSegmentsPerCall) await this.#flush()
  }

  async #inTurns<A>(steps: Steps<A>): Promise<A> {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      await this.turn()
    }
  }

  /** Stores the pending sets: together, or one by one if an item is refused. */
  async #flush(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    this.#items = 0
    this.#segments = 0
    const good = pending.filter(({ faults }) => faults.length === 0)
    for (const name of new Set(good.map(({ handler }) => handler!))) {
      const own = good.filter(({ handler }) => handler === name)
      if (own.length > 1 && own.reduce((sum, { read }) => sum + read.items.length, 0) <= maxItemsPerCall && await this.#store(name, own)) continue
      for (const one of own) await this.#store(name, [one])
    }
    for (const { faults, read, results, set } of pending) {
      await this.turn()
      await this.#reportSet(set, read, faults, results)
    }
  }

  /** Returns false if an item is refused; a single set then has the faults. */
  async #store(name: keyof EdiHandlers, sets: ReadonlyArray<Pending>): Promise<boolean> {
    const items = sets.flatMap(({ read }) => read.items)
    const handler = this.#options.handlers[name] as Handler<unknown>
    try {
      const results = await handler(items.map(({ item }) => item))
      let at = 0
      for (const each of sets) {
        const own = each.read.items.map((item, index) => ({ item, ...results[at + index] }))
        each.results = own.map(({ result }) => result === "duplicate" ? result : "accepted")
        each.faults.push(...own.flatMap(({ faults = [{}], item, result }) => result === "refused" ? faults.map((fault) => placed(fault, [item])) : []))
        at += each.read.items.length
      }
      return true
    } catch (error) {
      const refusal = refusalIn(error)
      if (refusal === undefined) throw error
      if (sets.length === 1) sets[0]!.faults.push(...refusal.map((fault) => placed(fault, items)))
      return false
    }
  }

  async #reportSet(set: TransactionSet, read: ReadItems, faults: ReadonlyArray<EdiFault>, results: Pending["results"]): Promise<void> {
    this.#group?.add(set, faults)
    this.#refusal ??= faults[0]
    const outcome = faults.length > 0 ? "refused" : results.every((result) => result === "duplicate") ? "duplicate" : "accepted"
    this.#counts[outcome === "duplicate" ? "duplicates" : outcome] += 1
    await this.#options.onResult?.({
      key: keyOfSet(set),
      set: set.id,
      interchange: set.interchange.controlNumber,
      group: set.group.controlNumber,
      controlNumber: set.controlNumber,
      outcome,
      records: faults.length > 0 ? [] : read.items.map(({ id, position, segment }, index) => ({ id, segment, position, result: results[index]! })),
      faults,
      warnings: read.warnings,
      kept: read.kept
    })
  }

  async #acknowledge(interchange: Interchange, faults: ReadonlyArray<EdiFault>): Promise<void> {
    this.#note(faults)
    if (this.#options.partner.acknowledge === "none" || this.#refused === tooMany) return
    const control = faults.length > 0 || interchange.wantsAcknowledgement ? [interchangeAcknowledgement(interchange, faults)] : []
    if (this.#sets.length === 0 && control.length === 0) return
    this.#waiting.push({ control, sets: this.#sets })
    this.#waitingSegments += this.#sets.reduce((sum, { segments }) => sum + segments.length, 0)
    if (this.#waiting.length >= maxWaiting || this.#waitingSegments >= maxSegmentsPerCall) await this.#writeWaiting()
  }

  async #writeWaiting(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingSegments = 0
    if (waiting.length === 0) return
    const controlNumbers = await this.#options.controlNumbers(waiting.length)
    for (const [index, unnumbered] of waiting.entries()) await this.#write(unnumbered, controlNumbers[index]!)
  }

  async #write({ control, sets: unechoed }: Unnumbered, controlNumber: number): Promise<void> {
    const { now = () => new Date(), partner } = this.#options
    const version = kindOf(partner) === "997" ? partner.version : newer(partner.version)
    const envelope = envelopeOf(partner, version)
    const sets: Array<WrittenSet> = []
    for (const set of unechoed) {
      await this.turn()
      sets.push({ ...set, segments: await this.#echoed(set.segments, envelope.delimiters) })
    }
    const groups = sets.length === 0 ? [] : [{ functionalId: "FA", controlNumber, sets }]
    const pieces: Array<string> = []
    for (const piece of writeInterchange({ ...envelope, controls: await this.#echoed(control, envelope.delimiters) }, controlNumber, now(), groups)) {
      pieces.push(piece)
      if (pieces.length % segmentsPerTurn === 0) await this.turn()
    }
    this.#acknowledgements.push({ controlNumber, text: pieces.join("") })
  }

  async #echoed(segments: ReadonlyArray<WrittenSegment>, delimiters: Delimiters): Promise<ReadonlyArray<WrittenSegment>> {
    const written: Array<WrittenSegment> = []
    for (const segment of segments) {
      written.push(echoed(segment, delimiters))
      if (written.length % segmentsPerTurn === 0) await this.turn()
    }
    return written
  }

  #note(faults: ReadonlyArray<EdiFault>) {
    for (const fault of faults) if (this.#faults.length < maxFaults) this.#faults.push(fault)
  }
}

const noInterchange: EdiFault = { level: "interchange", code: interchangeFaults.structure, segment: "ISA", detail: "The file has no interchange." }

const nothingRead: ReadItems = { items: [], faults: [], warnings: [], kept: [] }

/** 999 exists from 005010 on, and is usual there only where it was agreed. */
const kindOf = (partner: PartnerProfile) => partner.acknowledge === "999" ? "999" : "997"

const newer = (version: PartnerProfile["version"]) => version === "004010" ? "005010" : version

const tooMany: EdiFault = { level: "interchange", code: interchangeFaults.structure, segment: "ISA", detail: `A file has at most ${maxInterchanges} interchanges. Those that follow were not read, and are not acknowledged: send them in another file.` }

const tooManyGroups: EdiFault = { level: "interchange", code: interchangeFaults.structure, segment: "GS", detail: `A file has at most ${maxGroups} groups. Those that follow were not read, and are not acknowledged: send them in another file.` }

/** An interchange of somebody else, or a test where none is expected, is refused as a whole. */
const refusalOf = ({ controlNumber, date, isTest, receiver, sender, time }: Interchange, { isTest: wantsTest = false, partner, them, us }: PartnerProfile): EdiFault | undefined => {
  const fault = (element: number, code: string, detail: string): EdiFault => ({ level: "interchange", code, segment: "ISA", element, detail })
  if (sender.qualifier !== them.qualifier || sender.id !== them.id) return fault(6, interchangeFaults.sender, `The sender is ${sender.qualifier}/${sender.id}, not ${them.qualifier}/${them.id} of ${partner}.`)
  if (receiver.qualifier !== us.qualifier || receiver.id !== us.id) return fault(8, interchangeFaults.receiver, `The receiver is ${receiver.qualifier}/${receiver.id}, not ${us.qualifier}/${us.id}.`)
  if (hasControlCharacter([controlNumber, date, time])) return fault(13, interchangeFaults.controlNumberValue, "ISA-09, ISA-10 or ISA-13 has a control character.")
  if (isTest !== wantsTest) return fault(15, interchangeFaults.testIndicator, isTest ? "The interchange is a test (ISA-15 is not P), and the partner profile is not." : "The interchange is no test, and the partner profile is.")
  return undefined
}

/** The segment and element of a fault that a handler found. */
const placed = ({ detail = "It was refused.", pointer = "" }: HandlerFault, items: ReadonlyArray<ReadItem>): EdiFault => {
  const parts = pointer.split("/").slice(1)
  const at = parts.findIndex((part) => /^\d+$/u.test(part))
  const item = items[at === -1 ? 0 : Number(parts[at])] ?? items[0]
  // of a single item, the pointer may be inside the item
  const paths = [...items.length === 1 ? [parts] : [], ...at === -1 ? [] : [parts.slice(at + 1)]]
  for (const path of paths) {
    for (let length = path.length; length > 0; length--) {
      const source = item?.sources.get(path.slice(0, length).join("."))
      if (source !== undefined) return { level: "element", code: elementFaults.code, ...source, detail }
    }
  }
  return { level: "segment", code: "8", segment: item?.segment ?? "ST", position: item?.position ?? 1, detail }
}

const verdictIn = ({ segments }: TransactionSet): GroupVerdict => {
  // a longer slice of a text would keep the whole text in memory
  const textOf = (segment: Segment | undefined, element: number) => segment === undefined ? "" : elementOf(segment, element).slice(0, 9)
  const first = segments.find(({ id }) => id === "AK1")
  const last = segments.find(({ id }) => id === "AK9")
  const refused: Array<string> = []
  let current = ""
  for (const segment of segments) {
    if (segment.id === "AK2") current = textOf(segment, 2)
    if ((segment.id === "AK5" || segment.id === "IK5") && !["A", "E"].includes(elementOf(segment, 1)) && refused.length < 1000) refused.push(current)
  }
  return { functionalId: textOf(first, 1), group: textOf(first, 2), verdict: textOf(last, 1), refused }
}
