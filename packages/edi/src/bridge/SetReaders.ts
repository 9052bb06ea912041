/** The transaction sets that the bridge reads, and the handler of each. */
import type { ReadOne, ReadRecord, SetFindings, Steps } from "../mapping/ReadSet.ts"
import { readInvoice } from "../invoices/Invoices210.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { readAnswer } from "../pickups/Answers.ts"
import { type OrderSet, readOrder } from "../pickups/Orders.ts"
import { readEvents } from "../transit-events/TransitEvents214.ts"
import type { TransactionSet } from "../x12/Interchange.ts"
import type { EdiHandlers } from "./EdiHandlers.ts"

export interface ReadItem extends Omit<ReadRecord, "record"> {
  readonly item: unknown
  readonly id: string
}

export interface ReadItems extends SetFindings {
  readonly items: ReadonlyArray<ReadItem>
}

interface SetReader {
  readonly handler: keyof EdiHandlers
  readonly read: (set: TransactionSet, partner: PartnerProfile) => Steps<ReadItems>
}

/** Of a set that is one item. `segment`: its second segment, which says what it is. */
const single = <A>(handler: keyof EdiHandlers, segment: string, read: (set: TransactionSet, partner: PartnerProfile) => Steps<ReadOne<A>>, idOf: (value: A) => string): SetReader => ({
  handler,
  *read(set, partner) {
    const { sources, value, ...found } = yield* read(set, partner)
    return { ...found, items: value === undefined ? [] : [{ item: value, id: idOf(value), segment, position: 2, sources }] }
  }
})

const orders = (order: OrderSet, segment: string): SetReader => single("pickups", segment, (set, partner) => readOrder(order, set, partner), ({ key }) => key)

export const setReaders: Readonly<Record<string, SetReader>> = {
  "214": {
    handler: "transitEvents",
    *read(set, partner) {
      const { events, ...found } = yield* readEvents(set, partner)
      return { ...found, items: events.map(({ event, ...place }) => ({ ...place, item: event, id: event.eventId! })) }
    }
  },
  "210": single("invoices", "B3", readInvoice, ({ uniqueID }) => uniqueID),
  "204": orders("204", "B2"),
  "211": orders("211", "BOL"),
  "216": orders("216", "PUN"),
  "990": single("pickupAnswers", "B1", readAnswer, ({ key }) => key!)
}
