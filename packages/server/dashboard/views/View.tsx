/** The view of a route. */
import { useEffect } from "preact/hooks"
import type { Route } from "../model/routes.ts"
import { visibleLine } from "../model/visibleText.ts"
import { Deliveries } from "./Deliveries.tsx"
import { DeliveryPage } from "./DeliveryPage.tsx"
import { Explain } from "./Explain.tsx"
import { Journey } from "./Journey.tsx"
import { Pickups } from "./Pickups.tsx"
import { SubscriptionPage } from "./SubscriptionPage.tsx"
import { Subscriptions } from "./Subscriptions.tsx"
import { Shipments } from "./Shipments.tsx"
import { Tenants } from "./Tenants.tsx"

export const View = ({ route }: { readonly route: Route }) => {
  const title = titleOf(route)
  useEffect(() => {
    document.title = `${visibleLine(title)} · Waybill`
  }, [title])
  switch (route.view) {
    case "tenants":
      return <Tenants route={route} />
    case "subscriptions":
      return <Subscriptions route={route} />
    case "subscription":
      return <SubscriptionPage route={route} />
    case "deliveries":
      return <Deliveries route={route} />
    case "delivery":
      return <DeliveryPage route={route} />
    case "shipments":
      return <Shipments route={route} />
    case "journey":
      return <Journey route={route} />
    case "pickups":
      return <Pickups route={route} />
    case "explain":
      return <Explain route={route} />
    case "nowhere":
      return (
        <>
          <h1 tabIndex={-1}>Page not found</h1>
          <p><a href="#/">Choose a tenant</a></p>
        </>
      )
  }
}

const titleOf = (route: Route): string => {
  switch (route.view) {
    case "tenants":
      return "Tenants"
    case "subscriptions":
      return `Subscriptions of ${route.tenantId}`
    case "subscription":
      return `Subscription ${route.subscriptionId}`
    case "deliveries":
      return `${route.state === "dead" ? "Dead letters" : "Deliveries"} of ${route.tenantId}`
    case "delivery":
      return `Delivery ${route.deliveryId}`
    case "shipments":
      return `Shipments of ${route.tenantId}`
    case "journey":
      return `Shipment ${route.shipmentId}`
    case "pickups":
      return `Pickups of ${route.tenantId}`
    case "explain":
      return `Explain a delivery of ${route.tenantId}`
    case "nowhere":
      return "Page not found"
  }
}
