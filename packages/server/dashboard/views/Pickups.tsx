/** Pickups that wait for the carrier's decision, the oldest order first, or all of a tenant. */
import { type OperatorPage, type OperatorPickup, pickupWindowText } from "@waybill/client/operator"
import { hashOf, type Route } from "../model/routes.ts"
import { visibleLine } from "../model/visibleText.ts"
import { plural } from "../model/words.ts"
import { Choice } from "../parts/Fields.tsx"
import { ActionResult, Answered, Empty, NewRowsWaiting } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { Shown, ShownList } from "../parts/Shown.tsx"
import { Table } from "../parts/Table.tsx"
import { Tag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useDialog } from "../session/useDialog.ts"
import { usePolled } from "../session/usePolled.ts"
import { useSteady } from "../session/useSteady.ts"
import { type Decision, decisionNames, DecisionDialog, pickupName } from "./DecisionDialog.tsx"

type PickupsRoute = Extract<Route, { readonly view: "pickups" }>

interface Asked {
  readonly decision: Decision
  readonly pickup: OperatorPickup
}

export const Pickups = ({ route }: { readonly route: PickupsRoute }) => {
  const { cursor, state, tenantId } = route
  const polled = usePolled(hashOf(route), (client, signal) => client.listPickups(tenantId, { state: state === "all" ? "all" : "waiting", cursor, limit: 50 }, { signal }))
  const { ask, asked, close, result } = useDialog<Asked>(polled)
  return (
    <>
      <h1 tabIndex={-1}>Pickups</h1>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="Show"
          value={state === "all" ? "all" : undefined}
          all="waiting for a decision"
          choices={[["all", "all pickups"]]}
          change={(state) => void (location.hash = hashOf({ view: "pickups", tenantId, state }))}
        />
      </form>
      <ActionResult result={result} />
      <Answered of={polled}>{(page) => <Page route={route} page={page} ask={ask} />}</Answered>
      {asked !== undefined && <DecisionDialog tenantId={tenantId} pickup={asked.pickup} decision={asked.decision} close={close} />}
    </>
  )
}

const columns = [
  { name: "Pickup" },
  { name: "Status" },
  { name: "Ordered" },
  { name: "Pickup address" },
  { name: "Ready" },
  { name: "Carrier" },
  { name: "Decision", bare: true }
]

interface PageProps {
  readonly route: PickupsRoute
  readonly page: OperatorPage<OperatorPickup>
  readonly ask: (asked: Asked) => void
}

const Page = ({ ask, page: { data, nextCursor }, route }: PageProps) => {
  const { cursor, state, tenantId } = route
  const { list, newRowsWaiting, rows } = useSteady<OperatorPickup>(hashOf(route), data, ({ pickupId }) => pickupId)
  return (
    <>
      {rows.length === 0 ? <Empty>{state === "all" ? "No pickups yet. They appear when a customer orders one." : "No pickup waits for a decision."}</Empty> : (
        <Table
          caption={`${plural(data.length, state === "all" ? "pickup" : "waiting pickup")}${nextCursor ? " on this page" : ""}`}
          columns={columns}
          list={list}
          rows={rows.map((pickup) => ({ id: pickup.pickupId, cells: cellsOf(pickup, ask) }))}
        />
      )}
      <NewRowsWaiting count={newRowsWaiting} />
      <Pages
        first={cursor === undefined ? undefined : hashOf({ view: "pickups", tenantId, state })}
        next={nextCursor ? hashOf({ view: "pickups", tenantId, state, cursor: nextCursor }) : undefined}
      />
    </>
  )
}

const cellsOf = (pickup: OperatorPickup, ask: (asked: Asked) => void) => {
  const { carrier, client, confirmationNumber, isTest, orderedAt, origin, status, waitingFor, waitingSince } = pickup
  return [
    <>
      <span class={confirmationNumber === null ? "id" : "unbroken"}><Shown text={pickupName(pickup)} /></span>
      <small class="signs"><Shown text={client} />{isTest && ", test"}</small>
    </>,
    <>
      <Tag tone={waitingFor === null ? "plain" : "careful"} text={waitingFor === null ? status : `${waitingFor} waits`} />
      {waitingFor !== null && <small class="signs"><Shown text={status} />{waitingSince !== null && <>, <When brief at={waitingSince} /></>}</small>}
    </>,
    <When at={orderedAt} />,
    <ShownList texts={[origin.name, origin.city, `${origin.state} ${origin.zip}`]} />,
    <Shown text={pickupWindowText(pickup.readyWindow)} />,
    carrier.carrierName === null && carrier.scac === null ? "–" : <ShownList texts={[carrier.carrierName, carrier.scac].filter((text) => text !== null)} />,
    waitingFor === null ? "" : (
      <div class="actions">
        {decisions.map((decision) => (
          <button
            key={decision}
            type="button"
            class={decision === "accept" ? "small" : "secondary outline small"}
            aria-label={`${decisionNames[decision]} pickup ${visibleLine(pickupName(pickup))}`}
            onClick={() => ask({ decision, pickup })}
          >
            {decisionNames[decision]} …
          </button>
        ))}
      </div>
    )
  ]
}

const decisions = ["accept", "reject", "call"] as const satisfies ReadonlyArray<Decision>
