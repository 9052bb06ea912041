/** Deliveries of a tenant, newest first; dead letters can be selected and sent again. */
import type { Delivery, DeliveryState, OperatorPage } from "@waybill/client/operator"
import { useEffect, useState } from "preact/hooks"
import { type DeliveriesFilter, hashOf, type Route } from "../model/routes.ts"
import { inputOf, instantOfInput } from "../model/time.ts"
import { deliveryStates, deliveryWords, plural } from "../model/words.ts"
import { Choice, InstantField, TextField } from "../parts/Fields.tsx"
import { Answered, Empty, ActionResult } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { Shown } from "../parts/Shown.tsx"
import { useAppState } from "../session/Context.ts"
import { useDialog } from "../session/useDialog.ts"
import { usePolled } from "../session/usePolled.ts"
import { DismissDialog } from "./DismissDialog.tsx"
import { RecoverDialog } from "./SubscriptionDialogs.tsx"
import { RetryButton, RetryDialog } from "./RetryDialog.tsx"
import { TenantDeliveryRows } from "./TenantDeliveryRows.tsx"

type DeliveriesRoute = Extract<Route, { readonly view: "deliveries" }>
type Asked = { readonly act: "dismiss" | "retry"; readonly deliveries: ReadonlyArray<Delivery> } | "recover"

export const Deliveries = ({ route }: { readonly route: DeliveriesRoute }) => {
  const { client: owner, cursor, since, state, subscriptionId, tenantId } = route
  const polled = usePolled(hashOf(route), (client, signal) =>
    client.listDeliveries(tenantId, { client: owner, cursor, since, state: state as DeliveryState | undefined, subscriptionId, order: "newest", limit: 50 }, { signal }))
  const { client } = useAppState()
  const { ask, asked, close, result } = useDialog<Asked>(polled)
  return (
    <>
      <h1 tabIndex={-1}>{state === "dead" ? "Dead letters" : "Deliveries"}</h1>
      <Filter route={route} />
      <ActionResult result={result} />
      <Answered of={polled} missing="Tenant not found.">
        {(page) => state === "dead" ? <DeadLetters route={route} page={page} ask={ask} /> : <Any route={route} page={page} />}
      </Answered>
      {typeof asked === "object" && asked.act === "retry" && <RetryDialog retry={(deliveryId) => client.retryDelivery(tenantId, deliveryId)} deliveries={asked.deliveries} close={close} />}
      {typeof asked === "object" && asked.act === "dismiss" && <DismissDialog tenantId={tenantId} deliveries={asked.deliveries} close={close} />}
      {asked === "recover" && subscriptionId !== undefined && <RecoverDialog tenantId={tenantId} subscriptionId={subscriptionId} close={close} />}
    </>
  )
}

/** The address may contain any text. */
const inputOfInstant = (instant = ""): string => {
  const millis = Date.parse(instant)
  return Number.isNaN(millis) ? "" : inputOf(millis)
}

/** The first page with this filter. */
const show = (tenantId: string, { client, since, state, subscriptionId }: DeliveriesFilter) => hashOf({ view: "deliveries", tenantId, client, state, subscriptionId, since })

const Filter = ({ route }: { readonly route: DeliveriesRoute }) => {
  const { subscriptionId, tenantId } = route
  const go = (filter: DeliveriesFilter) => void (location.hash = show(tenantId, filter))
  const given = inputOfInstant(route.since)
  const [since, setSince] = useState(given)
  useEffect(() => setSince(given), [given])
  const owner = route.client ?? ""
  const [named, setNamed] = useState(owner)
  useEffect(() => setNamed(owner), [owner])
  // not with every digit that is typed
  const takeSince = (since: string) => since !== given && go({ ...route, since: instantOfInput(since) })
  return (
    <form class="filter" onSubmit={(event) => event.preventDefault()}>
      <Choice
        label="State"
        value={route.state}
        all="every state"
        choices={deliveryStates.map((state) => [state, deliveryWords[state]!])}
        change={(state) => go({ ...route, state })}
      />
      <InstantField label="Created since" value={since} change={setSince} done={takeSince} />
      <TextField label="Client" value={named} change={setNamed} done={(client) => client.trim() !== owner && go({ ...route, client: client.trim() || undefined })} />
      {subscriptionId !== undefined && (
        <p>
          Of <a href={hashOf({ view: "subscription", tenantId, subscriptionId })}>subscription <span class="id"><Shown text={subscriptionId} /></span></a>{" "}
          only. <a href={show(tenantId, { ...route, subscriptionId: undefined })}>Of all subscriptions</a>
        </p>
      )}
    </form>
  )
}

interface PageProps {
  readonly route: DeliveriesRoute
  readonly page: OperatorPage<Delivery>
}

const Any = ({ page: { data, nextCursor }, route }: PageProps) => (
  <>
    {data.length === 0 ? <Empty>No delivery matches.</Empty> : (
      <TenantDeliveryRows tenantId={route.tenantId} question={hashOf(route)} caption={captionOf(data.length, nextCursor, route)} deliveries={data} subscriptions={route.subscriptionId === undefined} />
    )}
    <PagesOf route={route} next={nextCursor} />
  </>
)

const captionOf = (count: number, next: string | null | undefined, { cursor }: DeliveriesRoute) =>
  cursor !== undefined ? plural(count, "older delivery", "older deliveries") : next ? `The newest ${count}` : plural(count, "delivery", "deliveries")

const PagesOf = ({ next, route }: { readonly route: DeliveriesRoute; readonly next: string | null | undefined }) => (
  <Pages
    first={route.cursor === undefined ? undefined : show(route.tenantId, route)}
    next={next ? hashOf({ ...route, cursor: next }) : undefined}
  />
)

const DeadLetters = ({ ask, page: { data, nextCursor }, route }: PageProps & { readonly ask: (asked: Asked) => void }) => {
  const { subscriptionId, tenantId } = route
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  // A delivery that was sent again is no longer a dead letter.
  const chosen = data.filter(({ deliveryId }) => selected.has(deliveryId))
  const toggle = (id: string, on: boolean) => setSelected((before) => on ? new Set([...before, id]) : new Set([...before].filter((other) => other !== id)))
  const all = data.length > 0 && chosen.length === data.length
  return (
    <>
      <div class="actions">
        <button type="button" disabled={chosen.length === 0} onClick={() => ask({ act: "retry", deliveries: chosen })}>
          {chosen.length === 0 ? "Retry selected …" : `Retry ${chosen.length} selected …`}
        </button>
        <button type="button" class="secondary" disabled={chosen.length === 0} onClick={() => ask({ act: "dismiss", deliveries: chosen })}>
          {chosen.length === 0 ? "Dismiss selected …" : `Dismiss ${chosen.length} selected …`}
        </button>
        <button type="button" class="secondary outline" disabled={data.length === 0} onClick={() => setSelected(all ? new Set() : new Set(data.map(({ deliveryId }) => deliveryId)))}>
          {all ? "Select none" : "Select all on this page"}
        </button>
        {subscriptionId !== undefined && <button type="button" class="secondary" onClick={() => ask("recover")}>Recover dead letters since …</button>}
      </div>
      {data.length === 0 ? <Empty>No dead letter{route.since === undefined ? "" : " since then"}.</Empty> : (
        <TenantDeliveryRows
          tenantId={tenantId}
          question={hashOf(route)}
          caption={captionOf(data.length, nextCursor, route).replace(/deliver(y|ies)$/, data.length === 1 ? "dead letter" : "dead letters")}
          deliveries={data}
          subscriptions={subscriptionId === undefined}
          select={({ deliveryId }) => (
            <input
              type="checkbox"
              aria-label={`Select delivery ending in ${deliveryId.slice(-6)}`}
              checked={selected.has(deliveryId)}
              onChange={(event) => toggle(deliveryId, event.currentTarget.checked)}
            />
          )}
          action={(delivery) => <RetryButton delivery={delivery} ask={(delivery) => ask({ act: "retry", deliveries: [delivery] })} />}
        />
      )}
      {subscriptionId === undefined && data.length > 0 && <p><small>To recover all dead letters of a subscription since a time, open the subscription.</small></p>}
      <PagesOf route={route} next={nextCursor} />
    </>
  )
}
