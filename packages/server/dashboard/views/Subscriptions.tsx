/** Every subscription with its delivery state, the most serious problems first. */
import type { DeliveryError, OperatorPage, OperatorSubscription, StatisticsPoint, SubscriptionState } from "@waybill/client/operator"
import { useEffect, useRef } from "preact/hooks"
import { hashOf, inTrouble, type Route, type SubscriptionsFilter } from "../model/routes.ts"
import { rangeQuery } from "../model/statistics.ts"
import { byTrouble, counted, countText, isInTrouble } from "../model/trouble.ts"
import { attemptText, errorChoices, plural, subscriptionStates, totalText } from "../model/words.ts"
import { HeatStrip } from "../parts/HeatStrip.tsx"
import { Choice, FilterField } from "../parts/Fields.tsx"
import { ActionResult, Answered, Empty, NewRowsWaiting } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { Shown, ShownLine } from "../parts/Shown.tsx"
import { Table } from "../parts/Table.tsx"
import { SubscriptionName } from "../parts/SubscriptionName.tsx"
import { SubscriptionTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useAppState } from "../session/Context.ts"
import { serverNow } from "../session/Server.ts"
import { useDialog } from "../session/useDialog.ts"
import { usePolled } from "../session/usePolled.ts"
import { useSteady } from "../session/useSteady.ts"
import { BulkPurgeDialog } from "./BulkPurgeDialog.tsx"
import { Charts } from "./Charts.tsx"

type SubscriptionsRoute = Extract<Route, { readonly view: "subscriptions" }>

/** The statistics of so many subscriptions can be read at once. */
const pageSize = 100

export const Subscriptions = ({ route }: { readonly route: SubscriptionsRoute }) => {
  const { client: owner, cursor, endpoint, error, state, tenantId } = route
  const polled = usePolled(hashOf(route), (client, signal) =>
    client.listSubscriptions(tenantId, {
      client: owner,
      cursor,
      endpoint,
      error: error as DeliveryError | undefined,
      inTrouble: state === inTrouble ? true : undefined,
      limit: pageSize,
      state: state === inTrouble ? undefined : state as SubscriptionState | undefined,
      total: error === undefined ? true : undefined
    }, { signal }))
  const { ask, asked, close, result } = useDialog<{ readonly matching: number }>(polled)
  const show = (filter: SubscriptionsFilter) => void (location.hash = hashOf({ view: "subscriptions", tenantId, ...filter, cursor: undefined }))
  return (
    <>
      <h1 tabIndex={-1}>Subscriptions</h1>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <Choice label="State" value={state} all="every state" choices={[[inTrouble, "in trouble"], ...subscriptionStates.map((state) => [state, state] as const)]} change={(state) => show({ ...route, state })} />
        <FilterField label="Client" value={owner} change={(client) => show({ ...route, client })} />
        <FilterField label="Endpoint" takes="host or whole address" value={endpoint} change={(endpoint) => show({ ...route, endpoint })} />
        <Choice label="Last attempt" value={error} all="every outcome" choices={errorChoices} change={(error) => show({ ...route, error })} />
      </form>
      <Charts tenantId={tenantId} client={owner} />
      <ActionResult result={result} />
      <Answered of={polled}>{(page) => <Page route={route} page={page} ask={ask} />}</Answered>
      {asked !== undefined && <BulkPurgeDialog tenantId={tenantId} matching={asked.matching} filter={{ client: owner, endpoint, state: state as SubscriptionState | undefined }} close={close} />}
    </>
  )
}

const columns = [
  { name: "Subscription" },
  { name: "Health" },
  { name: "Endpoint" },
  { name: "Failures of 24 h" },
  { name: "Waiting", number: true },
  { name: "In progress", number: true },
  { name: "Dead", number: true },
  { name: "Last attempt" }
]

interface PageProps {
  readonly route: SubscriptionsRoute
  readonly page: OperatorPage<OperatorSubscription>
  readonly ask: (asked: { readonly matching: number }) => void
}

const Page = ({ ask, page: { data, nextCursor, total = 0 }, route }: PageProps) => {
  const { client, cursor, endpoint, error, state, tenantId } = route
  const filtered = client !== undefined || endpoint !== undefined || error !== undefined
  const { newRowsWaiting, list, rows } = useSteady<OperatorSubscription>(hashOf(route), byTrouble(data), ({ subscriptionId }) => subscriptionId)
  const strips = useStrips(tenantId, rows.map(({ subscriptionId }) => subscriptionId))
  const troubled = data.filter(isInTrouble).length
  useAnnounced(troubled === 0 ? "No subscription in trouble." : `${plural(troubled, "subscription")} in trouble.`)
  // a purge cannot be limited to an outcome or to trouble, and one of everything takes a command
  const purges = error === undefined && state !== inTrouble && (client !== undefined || endpoint !== undefined || state !== undefined) && data.length > 0
  return (
    <>
      {purges && (
        <div class="actions">
          <button type="button" class="secondary" onClick={() => ask({ matching: total })}>Purge all that match …</button>
        </div>
      )}
      {rows.length === 0 ? <Empty>{filtered ? `No subscription matches${nextCursor ? " on this page" : ""}.` : state === undefined ? <>No subscriptions yet. Clients create them with their API keys; <code>waybill keys create</code> makes a key.</> : `No subscription is ${state === inTrouble ? "in trouble" : state}.`}</Empty> : (
        <Table
          caption={`${cursor === undefined && !nextCursor ? "" : "On this page: "}${error === undefined && total > data.length ? `${data.length} of ${totalText(total, "subscription")}` : plural(data.length, "subscription")}, ${troubled === 0 ? "none" : troubled} in trouble, ${totalOf(data, "waiting")} waiting, ${totalOf(data, "dead")} dead letters`}
          columns={columns}
          list={list}
          rows={rows.map((subscription) => ({ id: subscription.subscriptionId, cells: cellsOf(tenantId, subscription, strips.get(subscription.subscriptionId)) }))}
        />
      )}
      <NewRowsWaiting count={newRowsWaiting} />
      <Pages
        first={cursor === undefined ? undefined : hashOf({ ...route, cursor: undefined })}
        next={nextCursor ? hashOf({ ...route, cursor: nextCursor }) : undefined}
      />
    </>
  )
}

/** With a plus where a count of one of them stops. */
const totalOf = (subscriptions: ReadonlyArray<OperatorSubscription>, what: "dead" | "waiting"): string => {
  const total = subscriptions.reduce((sum, subscription) => sum + subscription[what], 0).toLocaleString("en-US")
  return subscriptions.some((subscription) => subscription[what] >= counted) ? `${total}+` : total
}

const cellsOf = (tenantId: string, subscription: OperatorSubscription, points: ReadonlyArray<StatisticsPoint> | undefined) => [
  <SubscriptionName {...subscription} href={hashOf({ view: "subscription", tenantId, subscriptionId: subscription.subscriptionId })} />,
  <>
    <SubscriptionTag subscription={subscription} />
    {subscription.reason !== null && <small class="signs"><Shown text={subscription.reason} /></small>}
  </>,
  <ShownLine text={subscription.endpointUrl} />,
  points === undefined ? "–" : <HeatStrip points={points} />,
  countText(subscription.waiting),
  countText(subscription.inFlight),
  subscription.dead === 0 ? "0" : <a href={hashOf({ view: "deliveries", tenantId, state: "dead", subscriptionId: subscription.subscriptionId })}>{countText(subscription.dead)}<span class="hidden"> dead letters</span></a>,
  subscription.lastAttempt === null ? "–" : (
    <>
      <Shown text={attemptText(subscription.lastAttempt)} /> <small><When brief at={subscription.lastAttempt.at} /></small>
    </>
  )
]

const hours = { seconds: 86_400, step: 3600 }

/** The last 24 hours of each subscription, by its id. */
const useStrips = (tenantId: string, subscriptionIds: ReadonlyArray<string>): ReadonlyMap<string | null, ReadonlyArray<StatisticsPoint>> => {
  const asked = subscriptionIds.toSorted()
  const { data } = usePolled(asked.length === 0 ? undefined : `strips ${tenantId} ${asked.join(" ")}`, (client, signal) =>
    client.statistics(tenantId, { ...rangeQuery(hours, serverNow()), subscriptionId: asked }, { signal }), 30_000)
  return new Map(data?.series.map(({ points, subscriptionId }) => [subscriptionId, points]))
}

/** Announces a message when it changes, but not initially, because it is on the page. */
const useAnnounced = (sentence: string): void => {
  const { announce } = useAppState()
  const before = useRef(sentence)
  useEffect(() => {
    if (before.current !== sentence) announce(sentence)
    before.current = sentence
  }, [sentence])
}
