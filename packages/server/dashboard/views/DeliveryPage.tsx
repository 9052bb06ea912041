/** One delivery of a tenant. */
import { hashOf, type Route } from "../model/routes.ts"
import { useAppState } from "../session/Context.ts"
import { usePolled } from "../session/usePolled.ts"
import { DeliveryDetail } from "./DeliveryDetail.tsx"

export const DeliveryPage = ({ route }: { readonly route: Extract<Route, { readonly view: "delivery" }> }) => {
  const { deliveryId, tenantId } = route
  const { client } = useAppState()
  const polled = usePolled(hashOf(route), (client, signal) => client.getDelivery(tenantId, deliveryId, { signal }))
  return (
    <DeliveryDetail
      deliveryId={deliveryId}
      polled={polled}
      subscriptionHref={(subscriptionId) => hashOf({ view: "subscription", tenantId, subscriptionId })}
      retry={(deliveryId) => client.retryDelivery(tenantId, deliveryId)}
    />
  )
}
