/** The carrier of the demo as an EDI partner: it writes its events as 214 into its inbox, one file for each event. */
import { partnerProfile, type PartnerProfile, writeTransitEvents } from "@waybill/edi"
import { Effect } from "effect"
import { mkdir, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { ediLine } from "./DemoLines.ts"
import { demoTenant } from "./DemoSeed.ts"
import type { TimedWrites } from "./DemoJourney.ts"

const partner = "demo-carrier"

/** Types of the demo's events that have no code of their own. The carrier and the service have agreed on these. */
const agreed = { IT: "IN_TRANSIT", PD: "PROOF_OF_DELIVERY" } as const

const profile: PartnerProfile = partnerProfile({
  partner,
  them: { qualifier: "02", id: "DEMO" },
  us: { qualifier: "ZZ", id: "WAYBILL" },
  version: "004010",
  sets: ["214"],
  mode: "LTL",
  lines: true,
  // the demo's shipments have an id of their own
  shipmentId: ["SID"],
  codes: { statusIn: agreed, statusOut: Object.fromEntries(Object.entries(agreed).map(([code, type]) => [type, code])) }
})

/** What the carrier writes with: sender and receiver are the other way round. */
const asCarrier: PartnerProfile = { ...profile, them: profile.us, us: profile.them }

/** Prepares the partner's folder. The returned function publishes events; writing an event again is a duplicate. */
export const openEdiCarrier = (directory: string, print: (line: string) => void): Effect.Effect<(events: TimedWrites["events"]) => Promise<void>> =>
  Effect.promise(async () => {
    const folder = join(directory, demoTenant, partner)
    const inbox = join(folder, "inbox")
    await mkdir(inbox, { recursive: true })
    await writeFile(join(folder, "profile.json"), `${JSON.stringify(profile, null, 2)}\n`)
    return async (events) => {
      for (const event of events) {
        const { eventId = "", occurredAt, shipment: { references = [], shipmentId } } = event
        const { text } = writeTransitEvents([{ ...event, shipment: { ...event.shipment, references: [...references, { type: "SID", value: shipmentId }] } } as Parameters<typeof writeTransitEvents>[0][number]], {
          partner: asCarrier,
          // the same event has the same numbers and date, also after a restart
          controlNumber: numberOf(eventId),
          at: new Date(occurredAt)
        })
        const name = `${Date.parse(occurredAt)}-${eventId}.edi`
        await writeFile(join(inbox, `.${name}.tmp`), text)
        await rename(join(inbox, `.${name}.tmp`), join(inbox, name))
        print(ediLine(name, event))
      }
    }
  })

/** A control number from 1 to 999,999,999. */
const numberOf = (eventId: string): number => {
  let hash = 0x811c9dc5
  for (const character of eventId) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193) >>> 0
  return hash % 999_999_999 + 1
}
