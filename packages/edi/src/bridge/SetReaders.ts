/** The transaction sets that the bridge reads, and the handler of each. */
import type { EdiWarning, KeptElement, ReadRecord, Steps } from "../mapping/ReadSet.ts"
import { readInvoice } from "../invoices/Invoices210.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { readAnswer } from "../pickups/Answers.ts"
import { type OrderSet, readOrder } from "../pickups/Orders.ts"
import { readEvents } from "../transit-events/TransitEvents214.ts"
import type { EdiFault } from "../x12/EdiFault.ts"
import type { TransactionSet } from "../x12/Interchange.ts"
import type { EdiHandlers } from "./EdiHandlers.ts"

export interface ReadItem {
  readonly item: unknown
  readonly id: string
  readonly segment: string
  readonly position: number
  readonly sources: ReadRecord["sources"]
}

export interface ReadItems {
  readonly items: ReadonlyArray<ReadItem>
  readonly faults: ReadonlyArray<EdiFault>
  readonly warnings: ReadonlyArray<EdiWarning>
  readonly kept: ReadonlyArray<KeptElement>
}

export interface SetReader {
  readonly handler: keyof EdiHandlers
  readonly read: (set: TransactionSet, partner: PartnerProfile) => Steps<ReadItems>
}

const orders = (order: OrderSet, segment: string): SetReader => ({
  handler: "pickups",
  *read(set, partner) {
    const { sources, value, ...read } = yield* readOrder(order, set, partner)
    return { ...read, items: value === undefined ? [] : [{ item: value, id: value.key, segment, position: 2, sources }] }
  }
})

export const setReaders: Readonly<Record<string, SetReader>> = {
  "214": {
    handler: "transitEvents",
    *read(set, partner) {
      const { events, ...read } = yield* readEvents(set, partner)
      return { ...read, items: events.map(({ event, ...place }) => ({ ...place, item: event, id: event.eventId! })) }
    }
  },
  "210": {
    handler: "invoices",
    *read(set, partner) {
      const { invoice, position, sources, ...read } = yield* readInvoice(set, partner)
      return { ...read, items: invoice === undefined ? [] : [{ item: invoice, id: invoice.uniqueID, segment: "B3", position, sources }] }
    }
  },
  "204": orders("204", "B2"),
  "211": orders("211", "BOL"),
  "216": orders("216", "PUN"),
  "990": {
    handler: "pickupAnswers",
    *read(set, partner) {
      const { sources, value, ...read } = yield* readAnswer(set, partner)
      return { ...read, items: value === undefined ? [] : [{ item: value, id: value.key!, segment: "B1", position: 2, sources }] }
    }
  }
}
