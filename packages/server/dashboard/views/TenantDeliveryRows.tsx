/** Deliveries of a tenant: rows link to the dashboard's views and name their subscription. */
import type { Delivery, JourneyDelivery, OperatorSubscription } from "@waybill/client/operator"
import type { ComponentProps } from "preact"
import { hashOf } from "../model/routes.ts"
import { SubscriptionName } from "../parts/SubscriptionName.tsx"
import { AreaTag } from "../parts/Tags.tsx"
import { usePolled } from "../session/usePolled.ts"
import { DeliveryRows } from "./DeliveryRows.tsx"

interface TenantDeliveryRowsProps extends Omit<ComponentProps<typeof DeliveryRows>, "hrefOf" | "subscription"> {
  readonly tenantId: string
  /** Whether to show the subscription of each row. */
  readonly subscriptions?: boolean
}

export const TenantDeliveryRows = ({ subscriptions = false, tenantId, ...rows }: TenantDeliveryRowsProps) => {
  const names = useNames(subscriptions ? tenantId : undefined)
  return (
    <DeliveryRows
      {...rows}
      hrefOf={(deliveryId) => hashOf({ view: "delivery", tenantId, deliveryId })}
      subscription={subscriptions ? (delivery) => <SubscriptionLink tenantId={tenantId} delivery={delivery} names={names} /> : undefined}
    />
  )
}

/** Deliveries of a shipment also show their area. */
const SubscriptionLink = ({ delivery, names, tenantId }: { readonly tenantId: string; readonly delivery: Delivery | JourneyDelivery; readonly names: Names }) => {
  const href = hashOf({ view: "subscription", tenantId, subscriptionId: delivery.subscriptionId })
  const known = names.get(delivery.subscriptionId)
  if (known !== undefined) return <SubscriptionName href={href} subscription={known} />
  return (
    <>
      <a href={href}><span class="id">…{delivery.subscriptionId.slice(-6)}</span></a>
      {"area" in delivery && <AreaTag area={delivery.area} />}
    </>
  )
}

type Names = ReadonlyMap<string, OperatorSubscription>

/** So many subscriptions of a tenant are shown by their endpoint, others by their id. */
const namedSubscriptions = 200

const useNames = (tenantId: string | undefined): Names => {
  const { data } = usePolled(tenantId === undefined ? undefined : `names ${tenantId}`, (client, signal) => client.listSubscriptions(tenantId!, { limit: namedSubscriptions }, { signal }), 30_000)
  return new Map(data?.data.map((subscription) => [subscription.subscriptionId, subscription]))
}
