/** History of one shipment across all areas, in chronological order. */
import type { JourneyEntry, ShipmentJourney } from "@waybill/client/operator"
import { useEffect, useRef, useState } from "preact/hooks"
import { hashOf, type Route } from "../model/routes.ts"
import { plural } from "../model/words.ts"
import { Answered, Empty } from "../parts/Notes.tsx"
import { Shown, ShownBlock, ShownList } from "../parts/Shown.tsx"
import { Facts } from "../parts/Table.tsx"
import { JourneyMap } from "../parts/JourneyMap.tsx"
import { AreaTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useAppState } from "../session/Context.ts"
import { usePolled } from "../session/usePolled.ts"
import { TenantDeliveryRows } from "./TenantDeliveryRows.tsx"

type JourneyRoute = Extract<Route, { readonly view: "journey" }>

export const Journey = ({ route }: { readonly route: JourneyRoute }) => {
  const { shipmentId, tenantId } = route
  const polled = usePolled(hashOf(route), (client, signal) => client.getJourney(tenantId, shipmentId, { signal }))
  const { announce } = useAppState()
  const newest = polled.data?.entries.at(-1)
  const title = newest === undefined ? undefined : newest.title
  const count = polled.data?.entries.length
  const before = useRef(count)
  useEffect(() => {
    if (before.current !== undefined && title !== undefined && count !== before.current) announce(`New: ${title}`)
    before.current = count
  }, [count])
  return (
    <>
      <h1 tabIndex={-1}>Shipment <Shown text={shipmentId} /></h1>
      <Answered of={polled} missing="Shipment not found in any area.">{(journey) => <JourneyParts tenantId={tenantId} journey={journey} />}</Answered>
    </>
  )
}

const JourneyParts = ({ journey, tenantId }: { readonly tenantId: string; readonly journey: ShipmentJourney }) => {
  const { accounts, bolNumber, deliveries, deliveriesSince, entries, proNumber, shipmentId, truncated } = journey
  return (
    <>
      <Facts
        facts={[
          ["PRO", proNumber === null ? "–" : <Shown text={proNumber} />],
          ["BOL", bolNumber === null ? "–" : <Shown text={bolNumber} />],
          ["Accounts", accounts.length === 0 ? "none" : <ShownList texts={accounts} />]
        ]}
      />
      <section aria-labelledby="journey">
        <h2 id="journey">Journey</h2>
        {truncated && <p>These are the newest {entries.length}; what happened before is left out.</p>}
        {entries.length === 0 ? <Empty>No entries yet.</Empty> : (
          <ol class="timeline">
            {keyed(entries).map(([key, entry]) => <Entry key={key} entry={entry} />)}
          </ol>
        )}
      </section>
      <JourneyMap entries={entries} />
      <section aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries of this shipment</h2>
        {deliveries.length === 0
          ? <Empty>None{deliveriesSince === null ? "" : " among the newest deliveries"}.</Empty>
          : <TenantDeliveryRows tenantId={tenantId} question={`journey ${shipmentId}`} caption={plural(deliveries.length, "delivery", "deliveries")} deliveries={deliveries} subscriptions />}
        <p><a href={hashOf({ view: "explain", tenantId, by: "shipmentId", value: shipmentId })}>Explain a missing delivery</a></p>
        {deliveriesSince !== null && <p><small>Deliveries created before <When at={deliveriesSince} /> were not searched.</small></p>}
      </section>
    </>
  )
}

/** Stable keys while entries are added; equal entries are numbered. */
const keyed = (entries: ReadonlyArray<JourneyEntry>): ReadonlyArray<readonly [string, JourneyEntry]> => {
  const counts = new Map<string, number>()
  return entries.map((entry) => {
    const name = `${entry.area} ${entry.at} ${entry.kind} ${entry.reference}`
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return [`${name} ${count}`, entry]
  })
}

const Entry = ({ entry: { area, at, document, kind, reference, title } }: { readonly entry: JourneyEntry }) => {
  const [open, setOpen] = useState(false)
  return (
    <li class={/^[a-z-]+$/.test(area) ? area : undefined}>
      <p class="meta"><When at={at} /> <AreaTag area={area} /></p>
      <p class="title"><Shown text={title} /></p>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary><Shown text={kind} />{reference !== null && <> <span class="id"><Shown text={reference} /></span></>}, JSON</summary>
        {open && <ShownBlock ourLines label={`JSON of ${title}`} text={JSON.stringify(document, null, 2)} />}
      </details>
    </li>
  )
}
