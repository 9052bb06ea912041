/** Search for shipments by their numbers. */
import type { NamedShipment } from "@waybill/client/operator"
import { useEffect, useId } from "preact/hooks"
import { hashOf, type Route } from "../model/routes.ts"
import { plural } from "../model/words.ts"
import { notBlank } from "../parts/Fields.tsx"
import { Answered, Empty } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { Table } from "../parts/Table.tsx"
import { When } from "../parts/When.tsx"
import { useAppState } from "../session/Context.ts"
import { useDraft } from "../session/useDraft.ts"
import { usePolled } from "../session/usePolled.ts"

const columns = [{ name: "Shipment" }, { name: "PRO" }, { name: "BOL" }, { name: "Carrier" }, { name: "Status" }, { name: "Last change" }]

export const Shipments = ({ route }: { readonly route: Extract<Route, { readonly view: "shipments" }> }) => {
  const { reference = "", tenantId } = route
  const id = useId()
  const { announce } = useAppState()
  const [typed, setTyped] = useDraft(reference)
  const polled = usePolled(reference === "" ? undefined : hashOf(route), (client, signal) => client.findShipments(tenantId, reference, { signal }))
  const count = polled.stale ? undefined : polled.data?.length
  useEffect(() => {
    if (count !== undefined) announce(`${plural(count, "shipment")} found for ${reference}.`)
  }, [reference, count])
  return (
    <>
      <h1 tabIndex={-1}>Shipments</h1>
      <search>
        <form
          class="filter"
          onSubmit={(event) => {
            event.preventDefault()
            location.hash = hashOf({ view: "shipments", tenantId, reference: typed.trim() })
          }}
        >
          <div class="field wide">
            <label for={id}>PRO, BOL or PO number, or shipment id</label>
            <input id={id} type="text" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} required {...notBlank} autocomplete="off" enterkeyhint="search" spellcheck={false} />
          </div>
          <button type="submit">Find</button>
        </form>
      </search>
      {reference !== "" && (
        <Answered of={polled}>
          {(found) => found.length === 0 ? <Empty>Nothing found for <Shown text={reference} />.</Empty> : <Found tenantId={tenantId} reference={reference} found={found} />}
        </Answered>
      )}
    </>
  )
}

interface FoundProps {
  readonly tenantId: string
  readonly reference: string
  readonly found: ReadonlyArray<NamedShipment>
}

const Found = ({ found, reference, tenantId }: FoundProps) => (
  <Table
    caption={`${plural(found.length, "shipment")} found`}
    columns={columns}
    rows={found.map(({ bolNumber, carrier, lastAt, proNumber, shipmentId, status }) => ({
      id: `${reference} ${shipmentId}`,
      cells: [
        <a href={hashOf({ view: "journey", tenantId, shipmentId })}><Shown text={shipmentId} /></a>,
        orDash(proNumber),
        orDash(bolNumber),
        orDash(carrier),
        orDash(status),
        lastAt === null ? "–" : <When at={lastAt} />
      ]
    }))}
  />
)

const orDash = (text: string | null) => text === null ? "–" : <Shown text={text} />
