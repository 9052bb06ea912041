/** The customer's deliveries, newest first, and one of them with its attempts and body. */
import type { DeliveryState } from "@waybill/client/operator"
import type { PortalClient } from "@waybill/client/portal"
import type { ComponentProps } from "preact"
import { noneText, plural } from "../model/words.ts"
import { ActionResult, Answered, Empty } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { SubscriptionName } from "../parts/SubscriptionName.tsx"
import { useNames } from "../session/useNames.ts"
import { useDialog } from "../session/useDialog.ts"
import { DeliveryDetail } from "../views/DeliveryDetail.tsx"
import { OfSubscription, StateChoice } from "../views/DeliveryFilters.tsx"
import { DeliveryRows } from "../views/DeliveryRows.tsx"
import { type ChosenDelivery } from "../session/oneByOne.ts"
import { RetryButton, RetryDialog } from "../views/RetryDialog.tsx"
import { hashOf, type Route } from "./routes.ts"
import { usePortal, usePortalClient } from "./SessionContext.ts"

type DeliveriesRoute = Extract<Route, { readonly view: "deliveries" }>

export const Deliveries = ({ route }: { readonly route: DeliveriesRoute }) => {
  const { cursor, state, subscriptionId } = route
  const client = usePortalClient()
  const polled = usePortal(hashOf(route), (client, signal) => client.listDeliveries({ cursor, state: state as DeliveryState | undefined, subscriptionId, limit: 50 }, { signal }))
  const { ask, asked, close, result } = useDialog<ChosenDelivery>(polled)
  return (
    <>
      <h1 tabIndex={-1}>Deliveries</h1>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <StateChoice state={state} change={(state) => void (location.hash = hashOf({ view: "deliveries", state, subscriptionId }))} />
        {subscriptionId !== undefined && (
          <OfSubscription subscriptionId={subscriptionId} href={hashOf({ view: "subscription", subscriptionId })} allHref={hashOf({ view: "deliveries", state })} />
        )}
      </form>
      <ActionResult result={result} />
      <Answered of={polled}>
        {({ data, nextCursor }) => (
          <>
            {data.length === 0 ? <Empty>{state === undefined && !nextCursor ? "No deliveries yet. They appear when something is sent to a subscription. A test event of a subscription shows whether its endpoint works." : noneText("delivery", nextCursor)}</Empty> : (
              <NamedRows
                question={hashOf(route)}
                caption={`${plural(data.length, "delivery", "deliveries")}${nextCursor ? " on this page" : ""}`}
                deliveries={data}
                hrefOf={(deliveryId) => hashOf({ view: "delivery", deliveryId })}
                named={subscriptionId === undefined}
                action={(delivery) => delivery.state === "dead" ? <RetryButton delivery={delivery} ask={ask} /> : null}
              />
            )}
            <Pages first={cursor === undefined ? undefined : hashOf({ view: "deliveries", state, subscriptionId })} next={nextCursor ? hashOf({ ...route, cursor: nextCursor }) : undefined} />
          </>
        )}
      </Answered>
      {asked !== undefined && <RetryDialog retry={(deliveryId) => client.retryDelivery(deliveryId)} deliveries={[asked]} close={close} />}
    </>
  )
}

const NamedRows = ({ named, ...rows }: Omit<ComponentProps<typeof DeliveryRows>, "subscription"> & { readonly named: boolean }) => {
  const names = useNames<PortalClient>(
    named ? rows.deliveries.map(({ subscriptionId }) => subscriptionId) : [],
    (client, subscriptionId, signal) => client.listSubscriptions({ subscriptionId, limit: subscriptionId.length }, { signal })
  )
  const nameOf = ({ subscriptionId }: { readonly subscriptionId: string }) => {
    const { area, endpointUrl } = names.get(subscriptionId) ?? {}
    return <SubscriptionName href={hashOf({ view: "subscription", subscriptionId })} area={area} endpointUrl={endpointUrl} subscriptionId={subscriptionId} />
  }
  return <DeliveryRows {...rows} subscription={named ? nameOf : undefined} />
}

export const Delivery = ({ deliveryId }: { readonly deliveryId: string }) => {
  const client = usePortalClient()
  const polled = usePortal(hashOf({ view: "delivery", deliveryId }), (client, signal) => client.getDelivery(deliveryId, { signal }))
  return (
    <DeliveryDetail
      deliveryId={deliveryId}
      polled={polled}
      subscriptionHref={(subscriptionId) => hashOf({ view: "subscription", subscriptionId })}
      retry={(deliveryId) => client.retryDelivery(deliveryId)}
    />
  )
}
