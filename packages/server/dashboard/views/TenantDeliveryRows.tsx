/** Deliveries of a tenant: rows link to the dashboard's views and name their subscription. */
import type { OperatorClient } from "@waybill/client/operator"
import type { ComponentProps } from "preact"
import { hashOf } from "../model/routes.ts"
import { SubscriptionName } from "../parts/SubscriptionName.tsx"
import { useNames } from "../session/useNames.ts"
import { DeliveryRows } from "./DeliveryRows.tsx"

interface TenantDeliveryRowsProps extends Omit<ComponentProps<typeof DeliveryRows>, "hrefOf" | "subscription"> {
  readonly tenantId: string
  /** Whether to show the subscription of each row. */
  readonly subscriptions?: boolean
}

export const TenantDeliveryRows = ({ subscriptions = false, tenantId, ...rows }: TenantDeliveryRowsProps) => {
  const names = useNames<OperatorClient>(
    subscriptions ? rows.deliveries.map(({ subscriptionId }) => subscriptionId) : [],
    (client, subscriptionId, signal) => client.listSubscriptions(tenantId, { subscriptionId, limit: subscriptionId.length }, { signal })
  )
  return (
    <DeliveryRows
      {...rows}
      hrefOf={(deliveryId) => hashOf({ view: "delivery", tenantId, deliveryId })}
      // a delivery of a shipment has its area
      subscription={subscriptions ? (delivery) => <SubscriptionName {...delivery} {...names.get(delivery.subscriptionId)} href={hashOf({ view: "subscription", tenantId, subscriptionId: delivery.subscriptionId })} /> : undefined}
    />
  )
}
