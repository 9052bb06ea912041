/** The customer's subscriptions: their state in words, what waits, and the last attempt. */
import type { PortalSubscription } from "@waybill/client/portal"
import { countText } from "../model/trouble.ts"
import { attemptText, plural } from "../model/words.ts"
import { Answered, Empty, NewRowsWaiting } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { Shown, ShownLine } from "../parts/Shown.tsx"
import { SubscriptionName } from "../parts/SubscriptionName.tsx"
import { Table } from "../parts/Table.tsx"
import { Tag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useSteady } from "../session/useSteady.ts"
import { hashOf, type Route } from "./routes.ts"
import { usePortal } from "./SessionContext.ts"
import { stateInWords } from "./words.ts"

type SubscriptionsRoute = Extract<Route, { readonly view: "subscriptions" }>

export const Subscriptions = ({ route }: { readonly route: SubscriptionsRoute }) => {
  const { cursor } = route
  const polled = usePortal(hashOf(route), (client, signal) => client.listSubscriptions({ cursor, limit: 100 }, { signal }))
  return (
    <>
      <h1 tabIndex={-1}>Subscriptions</h1>
      <Answered of={polled}>
        {({ data, nextCursor }) => (
          <>
            {data.length === 0 ? <Empty>No subscriptions yet. They appear here after you create one with the API.</Empty> : <Rows question={hashOf(route)} subscriptions={data} more={Boolean(nextCursor)} />}
            <Pages first={cursor === undefined ? undefined : hashOf({ view: "subscriptions" })} next={nextCursor ? hashOf({ view: "subscriptions", cursor: nextCursor }) : undefined} />
          </>
        )}
      </Answered>
    </>
  )
}

const columns = [
  { name: "Subscription" },
  { name: "Endpoint" },
  { name: "State" },
  { name: "Waiting", number: true },
  { name: "Dead letters", number: true },
  { name: "Last attempt" }
]

const Rows = ({ more, question, subscriptions }: { readonly question: string; readonly subscriptions: ReadonlyArray<PortalSubscription>; readonly more: boolean }) => {
  const { list, newRowsWaiting, rows } = useSteady<PortalSubscription>(question, subscriptions, ({ subscriptionId }) => subscriptionId)
  const failing = subscriptions.filter((each) => each.dead > 0 || stateInWords(each).tone === "bad").length
  return (
    <>
      <Table
        caption={`${plural(subscriptions.length, "subscription")}${more ? " on this page" : ""}, ${failing === 0 ? "none needs" : failing === 1 ? "1 needs" : `${failing} need`} attention`}
        columns={columns}
        list={list}
        rows={rows.map((subscription) => ({ id: subscription.subscriptionId, cells: cellsOf(subscription) }))}
      />
      <NewRowsWaiting count={newRowsWaiting} />
    </>
  )
}

const cellsOf = (subscription: PortalSubscription) => {
  const { area, dead, endpointUrl, subscriptionId, waiting } = subscription
  const { detail, short, tone } = stateInWords(subscription)
  return [
    <SubscriptionName href={hashOf({ view: "subscription", subscriptionId })} area={area} endpointUrl={endpointUrl} subscriptionId={subscriptionId} />,
    <ShownLine text={endpointUrl} />,
    <>
      <Tag tone={tone} text={short} />
      {tone !== "good" && <small class="signs"><Shown text={detail} /></small>}
    </>,
    countText(waiting),
    dead === 0 ? "0" : <a href={hashOf({ view: "deliveries", state: "dead", subscriptionId })}>{countText(dead)}<span class="hidden"> dead letters</span></a>,
    <LastAttempt of={subscription} />
  ]
}

export const LastAttempt = ({ of: { lastAttempt } }: { readonly of: PortalSubscription }) => lastAttempt === null ? <>none yet</> : (
  <>
    <Shown text={attemptText(lastAttempt)} /> <small><When brief at={lastAttempt.at} /></small>
  </>
)
