/** One lane: how it does, what died in it, and what can be done. */
import type { Delivery, Lane } from "@waybill/client/operator"
import { useState } from "preact/hooks"
import { hashOf, type Route } from "../model/routes.ts"
import { countText } from "../model/trouble.ts"
import { plural } from "../model/words.ts"
import { Answered, Empty, Told } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { Facts } from "../parts/Table.tsx"
import { AreaTag, LaneTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useDesk } from "../session/Context.ts"
import { isNotFound } from "../session/Session.ts"
import { usePolled } from "../session/usePolled.ts"
import { DeliveryRows } from "./DeliveryRows.tsx"
import { RecoverDialog, ReplayDialog, ResumeDialog } from "./LaneDialogs.tsx"
import { isRetryable, RetryDialog } from "./RetryDialog.tsx"

type LaneRoute = Extract<Route, { readonly view: "lane" }>
type Asked = "recover" | "replay" | "resume" | Delivery

const latest = 20

export const LanePage = ({ route }: { readonly route: LaneRoute }) => {
  const { subscriptionId, tenantId } = route
  const polled = usePolled(hashOf(route), async (client, signal) => {
    // one after the other: an operator's page must not be what keeps the server busy
    const lane = await client.getSubscription(tenantId, subscriptionId, { signal }).catch((failure: unknown) => {
      if (!isNotFound(failure)) throw failure
    })
    const dead = await client.listDeliveries(tenantId, { subscriptionId, state: "dead", order: "newest", limit: latest }, { signal })
    const deliveries = await client.listDeliveries(tenantId, { subscriptionId, order: "newest", limit: latest }, { signal })
    return { lane, dead: dead.data, deliveries: deliveries.data }
  })
  const { say } = useDesk()
  const [asked, setAsked] = useState<Asked>()
  const [told, setTold] = useState<string>()
  const close = (told?: string) => {
    setAsked(undefined)
    if (told === undefined) return
    setTold(told)
    say(told)
    polled.refresh()
  }
  const dialog = { tenantId, subscriptionId, close }
  return (
    <>
      <h1 tabIndex={-1}>Lane <span class="id"><Shown text={subscriptionId} /></span></h1>
      <Told told={told} />
      <Answered of={polled} missing="There is no such tenant.">
        {({ lane, ...seen }) => lane === undefined ? <Empty>There is no such subscription. Was it deleted?</Empty> : <Seen {...seen} lane={lane} route={route} ask={setAsked} />}
      </Answered>
      {asked === "recover" && <RecoverDialog {...dialog} />}
      {asked === "replay" && <ReplayDialog {...dialog} />}
      {asked === "resume" && <ResumeDialog {...dialog} />}
      {typeof asked === "object" && <RetryDialog tenantId={tenantId} deliveries={[asked]} close={close} />}
    </>
  )
}

interface SeenProps {
  readonly lane: Lane
  readonly dead: ReadonlyArray<Delivery>
  readonly deliveries: ReadonlyArray<Delivery>
  readonly route: LaneRoute
  readonly ask: (asked: Asked) => void
}

const Seen = ({ ask, dead, deliveries, lane, route: { subscriptionId, tenantId } }: SeenProps) => {
  const all = (state?: string) => hashOf({ view: "deliveries", tenantId, subscriptionId, state })
  return (
    <>
      <LaneFacts lane={lane} />
      <div class="actions">
        {lane.area === "freight-charges" && lane.state === "paused" && <button type="button" onClick={() => ask("resume")}>Resume …</button>}
        <button type="button" class="secondary" disabled={lane.dead === 0} onClick={() => ask("recover")}>Recover dead letters since …</button>
        {lane.area === "transit-events" && <button type="button" class="secondary" onClick={() => ask("replay")}>Replay …</button>}
      </div>
      <section aria-labelledby="dead">
        <h2 id="dead">Dead letters</h2>
        {dead.length === 0 ? <Empty>None.</Empty> : (
          <DeliveryRows
            tenantId={tenantId}
            question={`${subscriptionId} dead`}
            caption={lane.dead > dead.length ? `The newest ${dead.length} of ${countText(lane.dead)}` : plural(dead.length, "dead letter")}
            deliveries={dead}
            action={(delivery) => <RetryButton delivery={delivery} ask={ask} />}
          />
        )}
        {lane.dead > dead.length && <p><a href={all("dead")}>All dead letters of this lane</a></p>}
      </section>
      <section aria-labelledby="latest">
        <h2 id="latest">Latest deliveries</h2>
        {deliveries.length === 0 ? <Empty>Nothing has gone out yet.</Empty> : (
          <DeliveryRows tenantId={tenantId} question={subscriptionId} caption={`The newest ${deliveries.length}`} deliveries={deliveries} />
        )}
        {deliveries.length === latest && <p><a href={all()}>All deliveries of this lane</a></p>}
      </section>
    </>
  )
}

export const RetryButton = ({ ask, delivery }: { readonly delivery: Delivery; readonly ask: (delivery: Delivery) => void }) => (
  <button type="button" class="secondary outline small" disabled={!isRetryable(delivery)} onClick={() => ask(delivery)}>
    Retry<span class="hidden"> delivery ending in {delivery.deliveryId.slice(-6)}</span> …
  </button>
)

const LaneFacts = ({ lane }: { readonly lane: Lane }) => {
  const { breaker } = lane
  return (
    <Facts
      facts={[
        ["Health", <LaneTag lane={lane} />],
        ["State", <><Shown text={lane.state} /> <small>since <When at={lane.since} /></small></>],
        ...lane.reason === null ? [] : [["Reason", <Shown text={lane.reason} />] as const],
        ["Area", <AreaTag area={lane.area} />],
        ["Client", lane.client === null ? "nobody any more" : <Shown text={lane.client} />],
        ["Endpoint", <Shown text={lane.endpointUrl} />],
        [
          "Breaker",
          <>
            <Shown text={breaker.state} />{breaker.failures > 0 && `, ${plural(breaker.failures, "failure")} in a row`}
            {breaker.until !== null && <> until <When at={breaker.until} /></>}
          </>
        ],
        ["Waiting entries", countText(lane.waiting)],
        ["Unsettled deliveries", countText(lane.unsettled)],
        ["Dead letters", countText(lane.dead)],
        ["Looked at next", lane.dueAt === null ? "when something comes" : <When at={lane.dueAt} />]
      ]}
    />
  )
}

