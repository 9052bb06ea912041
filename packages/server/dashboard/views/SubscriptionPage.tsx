/** One subscription: its state, dead letters and actions. */
import type { Delivery, OperatorSubscription } from "@waybill/client/operator"
import { hashOf, type Route } from "../model/routes.ts"
import { countText } from "../model/trouble.ts"
import { deliveryText, pausedByText, plural } from "../model/words.ts"
import { Answered, Empty, ActionResult } from "../parts/Notes.tsx"
import { Shown, ShownLine } from "../parts/Shown.tsx"
import { Facts } from "../parts/Table.tsx"
import { AreaTag, SubscriptionTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useAppState } from "../session/Context.ts"
import { useDialog } from "../session/useDialog.ts"
import { isNotFound } from "../session/Server.ts"
import { usePolled } from "../session/usePolled.ts"
import { Charts } from "./Charts.tsx"
import { DeleteDialog, PauseDialog, PurgeDialog, RecoverDialog, ReplayDialog, ResumeDialog } from "./SubscriptionDialogs.tsx"
import { EditDialog, isEditable } from "./EditDialog.tsx"
import { RetryButton, RetryDialog } from "./RetryDialog.tsx"
import { TenantDeliveryRows } from "./TenantDeliveryRows.tsx"

type SubscriptionRoute = Extract<Route, { readonly view: "subscription" }>
/** Areas that keep history to replay. */
const replayed: ReadonlyArray<string> = ["transit-events", "pickups"]

interface Edit {
  readonly edited: OperatorSubscription
}

interface Replay {
  readonly replayArea: string
}

type Asked = Edit | "delete" | "pause" | "purge" | "recover" | "resume" | Replay | Delivery

const latest = 20

export const SubscriptionPage = ({ route }: { readonly route: SubscriptionRoute }) => {
  const { subscriptionId, tenantId } = route
  const polled = usePolled(hashOf(route), async (client, signal) => {
    // One by one, to keep the load on the server low.
    const subscription = await client.getSubscription(tenantId, subscriptionId, { signal }).catch((failure: unknown) => {
      if (!isNotFound(failure)) throw failure
    })
    const dead = await client.listDeliveries(tenantId, { subscriptionId, state: "dead", order: "newest", limit: latest }, { signal })
    const deliveries = await client.listDeliveries(tenantId, { subscriptionId, order: "newest", limit: latest }, { signal })
    return { subscription, dead: dead.data, deliveries: deliveries.data }
  })
  const { client } = useAppState()
  const { ask, asked, close, result } = useDialog<Asked>(polled)
  const dialog = { tenantId, subscriptionId, close }
  return (
    <>
      <h1 tabIndex={-1}>Subscription <span class="id"><Shown text={subscriptionId} /></span></h1>
      <ActionResult result={result} />
      <Answered of={polled}>
        {({ subscription, ...seen }) => subscription === undefined ? <Empty>Subscription not found. It may have been deleted.</Empty> : <Seen {...seen} subscription={subscription} route={route} ask={ask} />}
      </Answered>
      {asked === "pause" && <PauseDialog {...dialog} />}
      {asked === "purge" && <PurgeDialog {...dialog} />}
      {asked === "delete" && <DeleteDialog {...dialog} />}
      {asked === "recover" && <RecoverDialog {...dialog} />}
      {asked === "resume" && <ResumeDialog {...dialog} />}
      {typeof asked === "object" && "edited" in asked && <EditDialog tenantId={tenantId} subscription={asked.edited} close={close} />}
      {typeof asked === "object" && "replayArea" in asked && <ReplayDialog {...dialog} area={asked.replayArea} />}
      {typeof asked === "object" && "deliveryId" in asked && <RetryDialog retry={(deliveryId) => client.retryDelivery(tenantId, deliveryId)} deliveries={[asked]} close={close} />}
    </>
  )
}

interface SeenProps {
  readonly subscription: OperatorSubscription
  readonly dead: ReadonlyArray<Delivery>
  readonly deliveries: ReadonlyArray<Delivery>
  readonly route: SubscriptionRoute
  readonly ask: (asked: Asked) => void
}

const Seen = ({ ask, dead, deliveries, subscription, route: { subscriptionId, tenantId } }: SeenProps) => {
  const all = (state?: string) => hashOf({ view: "deliveries", tenantId, subscriptionId, state })
  return (
    <>
      <SubscriptionFacts subscription={subscription} />
      <div class="actions">
        {subscription.state === "paused" && <button type="button" onClick={() => ask("resume")}>Resume …</button>}
        {subscription.pausedBy !== "operator" && <button type="button" class="secondary" onClick={() => ask("pause")}>Pause …</button>}
        {isEditable(subscription) && <button type="button" class="secondary" onClick={() => ask({ edited: subscription })}>Change …</button>}
        <button type="button" class="secondary" disabled={subscription.dead === 0} onClick={() => ask("recover")}>Recover dead letters since …</button>
        {replayed.includes(subscription.area) && <button type="button" class="secondary" onClick={() => ask({ replayArea: subscription.area })}>Replay …</button>}
        <button type="button" class="secondary" onClick={() => ask("purge")}>Purge …</button>
        <button type="button" class="secondary" onClick={() => ask("delete")}>Delete …</button>
        <a href={hashOf({ view: "explain", tenantId, subscriptionId })}>Explain a missing delivery</a>
      </div>
      <Charts tenantId={tenantId} subscriptionId={subscriptionId} />
      <section aria-labelledby="dead">
        <h2 id="dead">Dead letters</h2>
        {dead.length === 0 ? <Empty>None.</Empty> : (
          <TenantDeliveryRows
            tenantId={tenantId}
            question={`${subscriptionId} dead`}
            caption={subscription.dead > dead.length ? `The newest ${dead.length} of ${countText(subscription.dead)}` : plural(dead.length, "dead letter")}
            deliveries={dead}
            action={(delivery) => <RetryButton delivery={delivery} ask={ask} />}
          />
        )}
        {subscription.dead > dead.length && <p><a href={all("dead")}>All dead letters of this subscription</a></p>}
      </section>
      <section aria-labelledby="latest">
        <h2 id="latest">Latest deliveries</h2>
        {deliveries.length === 0 ? <Empty>No deliveries yet.</Empty> : (
          <TenantDeliveryRows tenantId={tenantId} question={subscriptionId} caption={`The newest ${deliveries.length}`} deliveries={deliveries} />
        )}
        {deliveries.length === latest && <p><a href={all()}>All deliveries of this subscription</a></p>}
      </section>
    </>
  )
}

const SubscriptionFacts = ({ subscription }: { readonly subscription: OperatorSubscription }) => {
  const { breaker } = subscription
  return (
    <Facts
      facts={[
        ["Health", <SubscriptionTag subscription={subscription} />],
        [
          "State",
          <>
            <Shown text={subscription.state} />{subscription.pausedBy !== null && <> <Shown text={pausedByText(subscription.pausedBy)} /></>}{" "}
            <small>since <When at={subscription.since} /></small>
          </>
        ],
        ...subscription.held ? [["Access", "none: its client has no valid key, or the tenant is suspended. Nothing is sent."] as const] : [],
        ...subscription.reason === null ? [] : [["Reason", <Shown text={subscription.reason} />] as const],
        ["Area", <AreaTag area={subscription.area} />],
        ["Client", <Shown text={subscription.client} />],
        ["Secret", <Shown text={subscription.hmacSecretId} />],
        ["Endpoint", <Shown text={subscription.endpointUrl} />],
        ["Delivery", deliveryText(subscription.delivery)],
        ...Object.keys(subscription.filters).length === 0 ? [] : [["Filters", <ShownLine text={JSON.stringify(subscription.filters)} />] as const],
        [
          "Breaker",
          <>
            <Shown text={breaker.state} />{breaker.failures > 0 && `, ${plural(breaker.failures, "failure")} in a row`}
            {breaker.until !== null && <> until <When at={breaker.until} /></>}
          </>
        ],
        [
          "Waiting entries",
          <>{countText(subscription.waiting)}{subscription.oldestWaitingAt !== null && <> <small>the oldest since <When at={subscription.oldestWaitingAt} /></small></>}</>
        ],
        ["Deliveries in progress", countText(subscription.inFlight)],
        ["Dead letters", countText(subscription.dead)],
        ["Dropped entries", subscription.dropped.toLocaleString("en-US")],
        ["Next retry", subscription.dueAt === null ? "none" : <When at={subscription.dueAt} />]
      ]}
    />
  )
}

