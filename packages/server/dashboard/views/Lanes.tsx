/** Every subscription and how its deliveries do, the most troubled first. */
import type { Lane, LaneState, OperatorPage } from "@waybill/client/operator"
import { useEffect, useRef } from "preact/hooks"
import { hashOf, type Route } from "../model/routes.ts"
import { byTrouble, countText, troubleOf } from "../model/trouble.ts"
import { laneStates, outcomeText, plural } from "../model/words.ts"
import { Choice } from "../parts/Fields.tsx"
import { Answered, Empty, HeldBack } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { Shown, ShownLine } from "../parts/Shown.tsx"
import { Table } from "../parts/Table.tsx"
import { AreaTag, LaneTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useDesk } from "../session/Context.ts"
import { usePolled } from "../session/usePolled.ts"
import { useSteady } from "../session/useSteady.ts"

type LanesRoute = Extract<Route, { readonly view: "lanes" }>

export const Lanes = ({ route }: { readonly route: LanesRoute }) => {
  const { cursor, state, tenantId } = route
  const polled = usePolled(hashOf(route), (client, signal) =>
    client.listSubscriptions(tenantId, { cursor, limit: 200, state: state as LaneState | undefined }, { signal }))
  return (
    <>
      <h1 tabIndex={-1}>Lanes</h1>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <Choice label="State" value={state} all="every state" choices={laneStates.map((state) => [state, state])} change={(state) => {
          location.hash = hashOf({ view: "lanes", tenantId, state })
        }} />
      </form>
      <Answered of={polled} missing="There is no such tenant.">{(page) => <Page route={route} page={page} />}</Answered>
    </>
  )
}

const columns = [
  { name: "Subscription" },
  { name: "Health" },
  { name: "Endpoint" },
  { name: "Waiting", number: true },
  { name: "Unsettled", number: true },
  { name: "Dead", number: true },
  { name: "Last attempt" }
]

const Page = ({ page: { data, nextCursor }, route }: { readonly route: LanesRoute; readonly page: OperatorPage<Lane> }) => {
  const { cursor, state, tenantId } = route
  const { heldBack, list, rows } = useSteady<Lane>(hashOf(route), byTrouble(data), ({ subscriptionId }) => subscriptionId)
  const troubled = data.filter((lane) => troubleOf(lane).severity === "trouble").length
  useAnnounced(troubled === 0 ? "No lane is in trouble." : `${plural(troubled, "lane")} in trouble.`)
  return (
    <>
      {rows.length === 0 ? <Empty>{state === undefined ? "Nobody has subscribed to anything yet." : `No subscription is ${state}.`}</Empty> : (
        <Table
          caption={`${plural(data.length, "lane")}${nextCursor ? " on this page" : ""}, ${troubled === 0 ? "none" : troubled} in trouble`}
          columns={columns}
          list={list}
          rows={rows.map((lane) => ({ id: lane.subscriptionId, cells: cellsOf(tenantId, lane) }))}
        />
      )}
      <HeldBack count={heldBack} />
      <Pages
        first={cursor === undefined ? undefined : hashOf({ view: "lanes", tenantId, state })}
        next={nextCursor ? hashOf({ view: "lanes", tenantId, state, cursor: nextCursor }) : undefined}
      />
    </>
  )
}

const cellsOf = (tenantId: string, lane: Lane) => [
  <>
    <a href={hashOf({ view: "lane", tenantId, subscriptionId: lane.subscriptionId })}>
      {lane.client === null ? "nobody's" : <Shown text={lane.client} />} <span class="id">…{lane.subscriptionId.slice(-6)}</span>
    </a>
    <AreaTag area={lane.area} />
  </>,
  <>
    <LaneTag lane={lane} />
    {lane.reason !== null && <small class="signs"><Shown text={lane.reason} /></small>}
  </>,
  <ShownLine text={lane.endpointUrl} />,
  countText(lane.waiting),
  countText(lane.unsettled),
  lane.dead === 0 ? "0" : <a href={hashOf({ view: "deliveries", tenantId, state: "dead", subscriptionId: lane.subscriptionId })}>{countText(lane.dead)}<span class="hidden"> dead letters</span></a>,
  lane.lastAttempt === null ? "–" : (
    <>
      <Shown text={outcomeText(lane.lastAttempt.outcome)} />{lane.lastAttempt.status !== null && ` (${lane.lastAttempt.status})`} <small><When brief at={lane.lastAttempt.at} /></small>
    </>
  )
]

/** Says a sentence when it changes; not at first, because it stands on the page. */
const useAnnounced = (sentence: string): void => {
  const { say } = useDesk()
  const before = useRef(sentence)
  useEffect(() => {
    if (before.current !== sentence) say(sentence)
    before.current = sentence
  }, [sentence])
}
