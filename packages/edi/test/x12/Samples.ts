/** Reading and writing interchanges in tests. */
import { type EnvelopeOptions, InterchangeReader, type ReaderOptions, type WrittenGroup, writeInterchange, type X12Event } from "@waybill/edi"

export const envelope: EnvelopeOptions = {
  sender: { qualifier: "02", id: "ABCD" },
  receiver: { qualifier: "ZZ", id: "SHIPPER" },
  version: "004010"
}

export const at = new Date("2026-11-20T14:15:00Z")

export const written = (groups: ReadonlyArray<WrittenGroup>, options: Partial<EnvelopeOptions> = {}, controlNumber = 7): string =>
  [...writeInterchange({ ...envelope, ...options }, controlNumber, at, groups)].join("")

export const read = (text: string | Uint8Array, options: ReaderOptions & { readonly pieces?: number } = {}): ReadonlyArray<X12Event> => {
  const reader = new InterchangeReader(options)
  const pieces = options.pieces ?? text.length
  const events: Array<X12Event> = []
  for (let from = 0; from < text.length; from += pieces) events.push(...reader.push(text.slice(from, from + pieces)))
  events.push(...reader.end())
  return events
}

export const sets = (events: ReadonlyArray<X12Event>) => events.flatMap((event) => event.kind === "set" ? [event] : [])

/** Every fault of every event. */
export const faults = (events: ReadonlyArray<X12Event>) => events.flatMap((event) => "fault" in event ? [event.fault] : "faults" in event ? event.faults : [])

/** Ids and elements of a set's segments, without ST and SE. */
export const contents = (events: ReadonlyArray<X12Event>) => sets(events).map(({ set }) => set.segments.slice(1, -1).map(({ elements, id }) => [id, ...elements]))

export const status: WrittenGroup = {
  functionalId: "QM",
  controlNumber: 3,
  sets: [
    { id: "214", segments: [["B10", "0123456789", "SHIP-1", "ABCD"], ["LX", "1"], ["AT7", "X4", "NS", "", "", "20261120", "0815", "LT"]] },
    { id: "214", segments: [["B10", "0123456790", "SHIP-2", "ABCD"], ["LX", "1"], ["AT7", "D1", "NS", "", "", "20261120", "0930", "LT"]] }
  ]
}
