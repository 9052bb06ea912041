/** Deliveries of a tenant, newest first; dead letters can be selected and sent again. */
import type { DeadLettersFilter, Delivery, DeliveryError, DeliveryState, OperatorPage } from "@waybill/client/operator"
import { useState } from "preact/hooks"
import { type DeliveriesFilter, hashOf, type Route } from "../model/routes.ts"
import { inputOf, instantOfInput } from "../model/time.ts"
import { errorChoices, noneText, plural, totalText } from "../model/words.ts"
import { Choice, FilterField, InstantField } from "../parts/Fields.tsx"
import { Answered, Empty, ActionResult } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { useAppState } from "../session/Context.ts"
import { useDraft } from "../session/useDraft.ts"
import { useDialog } from "../session/useDialog.ts"
import { usePolled } from "../session/usePolled.ts"
import { type BulkAct, BulkDialog } from "./BulkDialog.tsx"
import { OfSubscription, StateChoice } from "./DeliveryFilters.tsx"
import { DismissDialog } from "./DismissDialog.tsx"
import { RecoverDialog } from "./SubscriptionDialogs.tsx"
import { RetryButton, RetryDialog } from "./RetryDialog.tsx"
import { TenantDeliveryRows } from "./TenantDeliveryRows.tsx"

type DeliveriesRoute = Extract<Route, { readonly view: "deliveries" }>
type Asked = { readonly act: "dismiss" | "retry"; readonly deliveries: ReadonlyArray<Delivery> } | BulkAct | "recover"

export const Deliveries = ({ route }: { readonly route: DeliveriesRoute }) => {
  const { cursor, state, subscriptionId, tenantId } = route
  const filter = deadLettersFilterOf(route)
  const polled = usePolled(hashOf(route), (client, signal) =>
    client.listDeliveries(tenantId, { ...filter, cursor, state: state as DeliveryState | undefined, order: "newest", limit: 50, total: true }, { signal }))
  const { client } = useAppState()
  const { ask, asked, close, result } = useDialog<Asked>(polled)
  return (
    <>
      <h1 tabIndex={-1}>{state === "dead" ? "Dead letters" : "Deliveries"}</h1>
      <Filter route={route} />
      <ActionResult result={result} />
      <Answered of={polled}>
        {(page) => state === "dead" ? <DeadLetters route={route} page={page} ask={ask} /> : <Any route={route} page={page} />}
      </Answered>
      {typeof asked === "object" && "matching" in asked && <BulkDialog tenantId={tenantId} asked={asked} filter={filter} close={close} />}
      {typeof asked === "object" && "deliveries" in asked && asked.act === "retry" && <RetryDialog retry={(deliveryId) => client.retryDelivery(tenantId, deliveryId)} deliveries={asked.deliveries} close={close} />}
      {typeof asked === "object" && "deliveries" in asked && asked.act === "dismiss" && <DismissDialog tenantId={tenantId} deliveries={asked.deliveries} close={close} />}
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
const show = (tenantId: string, filter: DeliveriesFilter) => hashOf({ view: "deliveries", tenantId, ...filter, cursor: undefined })

/** As the server names the members that bulk actions have too. */
const deadLettersFilterOf = ({ client, endpoint, error, since, subscriptionId, until }: DeliveriesFilter): DeadLettersFilter =>
  ({ client, endpoint, error: error as DeliveryError | undefined, since, subscriptionId, until })

const Filter = ({ route }: { readonly route: DeliveriesRoute }) => {
  const { subscriptionId, tenantId } = route
  const go = (filter: DeliveriesFilter) => void (location.hash = show(tenantId, filter))
  return (
    <form class="filter" onSubmit={(event) => event.preventDefault()}>
      <StateChoice
        state={route.state}
        // an error is one of deliveries that wait or are dead letters
        change={(state) => go({ ...route, state, error: state === undefined || state === "waiting" || state === "dead" ? route.error : undefined })}
      />
      <InstantFilter label="Created since" value={route.since} change={(since) => go({ ...route, since })} />
      <InstantFilter label="Created before" value={route.until} change={(until) => go({ ...route, until })} />
      <FilterField label="Client" value={route.client} change={(client) => go({ ...route, client })} />
      <FilterField label="Endpoint" takes="host or whole address" value={route.endpoint} change={(endpoint) => go({ ...route, endpoint })} />
      {(route.state === undefined || route.state === "waiting" || route.state === "dead") && (
        <Choice label="Failed with" value={route.error} all="every outcome" choices={errorChoices} change={(error) => go({ ...route, error })} />
      )}
      {subscriptionId !== undefined && (
        <OfSubscription subscriptionId={subscriptionId} href={hashOf({ view: "subscription", tenantId, subscriptionId })} allHref={show(tenantId, { ...route, subscriptionId: undefined })} />
      )}
    </form>
  )
}

/** An instant of a filter. It changes when it was typed, not with every digit. */
const InstantFilter = ({ change, label, value }: { readonly label: string; readonly value: string | undefined; readonly change: (value: string | undefined) => void }) => {
  const given = inputOfInstant(value)
  const [typed, setTyped] = useDraft(given)
  return <InstantField label={label} value={typed} change={setTyped} done={(typed) => typed !== given && change(instantOfInput(typed))} />
}

interface PageProps {
  readonly route: DeliveriesRoute
  readonly page: OperatorPage<Delivery>
}

const Any = ({ page: { data, nextCursor, total }, route }: PageProps) => (
  <>
    {data.length === 0 ? <Empty>{nextCursor || isFiltered(route) ? noneText("delivery", nextCursor) : "No deliveries yet. They appear when something is published that a subscription matches."}</Empty> : (
      <TenantDeliveryRows tenantId={route.tenantId} question={hashOf(route)} caption={captionOf(data.length, nextCursor, route, total)} deliveries={data} subscriptions={route.subscriptionId === undefined} />
    )}
    <PagesOf route={route} next={nextCursor} />
  </>
)

const isFiltered = (route: DeliveriesRoute): boolean => [route.state, route.cursor, ...Object.values(deadLettersFilterOf(route))].some((value) => value !== undefined)

const captionOf = (count: number, next: string | null | undefined, { cursor }: DeliveriesRoute, total: number | undefined, [one, many]: readonly [string, string] = ["delivery", "deliveries"]) =>
  cursor !== undefined ? plural(count, `older ${one}`, `older ${many}`)
    : next ? `The newest ${count}${total === undefined ? "" : ` of ${totalText(total, one, many)}`}`
    : plural(count, one, many)

const PagesOf = ({ next, route }: { readonly route: DeliveriesRoute; readonly next: string | null | undefined }) => (
  <Pages
    first={route.cursor === undefined ? undefined : show(route.tenantId, route)}
    next={next ? hashOf({ ...route, cursor: next }) : undefined}
  />
)

const DeadLetters = ({ ask, page: { data, nextCursor, total }, route }: PageProps & { readonly ask: (asked: Asked) => void }) => {
  const { subscriptionId, tenantId } = route
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  // A delivery that was sent again is no longer a dead letter.
  const chosen = data.filter(({ deliveryId }) => selected.has(deliveryId))
  const toggle = (id: string, on: boolean) => setSelected((before) => on ? new Set([...before, id]) : new Set([...before].filter((other) => other !== id)))
  const filtered = Object.values(deadLettersFilterOf(route)).some((value) => value !== undefined)
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
        {nextCursor && filtered && (
          <>
            <button type="button" class="secondary" onClick={() => ask({ act: "retry", matching: total })}>Retry all that match …</button>
            <button type="button" class="secondary" onClick={() => ask({ act: "dismiss", matching: total })}>Dismiss all that match …</button>
          </>
        )}
        {subscriptionId !== undefined && <button type="button" class="secondary" onClick={() => ask("recover")}>Recover dead letters since …</button>}
      </div>
      {data.length === 0 ? <Empty>{filtered ? noneText("dead letter", nextCursor) : "No dead letter."}</Empty> : (
        <TenantDeliveryRows
          tenantId={tenantId}
          question={hashOf(route)}
          caption={captionOf(data.length, nextCursor, route, total, ["dead letter", "dead letters"])}
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
      {nextCursor && !filtered && <p><small>To retry or dismiss more than a page at once, narrow the list down by time, client, endpoint or error.</small></p>}
      <PagesOf route={route} next={nextCursor} />
    </>
  )
}
