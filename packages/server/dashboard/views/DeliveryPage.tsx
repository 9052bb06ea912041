/** One delivery of a tenant. */
import type { DeliveryInFull, OperatorClient } from "@waybill/client/operator"
import { useRef } from "preact/hooks"
import { hashOf, type Route } from "../model/routes.ts"
import { useAppState } from "../session/Context.ts"
import { usePolled } from "../session/usePolled.ts"
import { DeliveryDetail } from "./DeliveryDetail.tsx"

export const DeliveryPage = ({ route }: { readonly route: Extract<Route, { readonly view: "delivery" }> }) => {
  const { deliveryId, tenantId } = route
  const { client } = useAppState()
  const read = useRef<DeliveryInFull | undefined>(undefined)
  const polled = usePolled(hashOf(route), async (client, signal) => {
    const before = read.current?.deliveryId === deliveryId ? read.current : undefined
    // the audit log records every read of a body, which does not change and may be large
    const listed = before && await withoutBody(client, tenantId, before, signal)
    return read.current = before && listed ? { ...before, ...listed } : await client.getDelivery(tenantId, deliveryId, { signal })
  })
  return (
    <DeliveryDetail
      deliveryId={deliveryId}
      polled={polled}
      subscriptionHref={(subscriptionId) => hashOf({ view: "subscription", tenantId, subscriptionId })}
      retry={(deliveryId) => client.retryDelivery(tenantId, deliveryId)}
    />
  )
}

/** The delivery now, from the list; `undefined` if it is not there any more, or among too many of the same time. */
const withoutBody = async (client: OperatorClient, tenantId: string, { createdAt, deliveryId, subscriptionId }: DeliveryInFull, signal: AbortSignal) => {
  const until = new Date(Date.parse(createdAt) + 1)
  const { data } = await client.listDeliveries(tenantId, { subscriptionId, since: createdAt, until, limit: 100 }, { signal })
  return data.find((delivery) => delivery.deliveryId === deliveryId)
}
