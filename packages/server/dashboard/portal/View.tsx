/** The view of a route. */
import { useContext, useEffect } from "preact/hooks"
import { visibleLine } from "../model/visibleText.ts"
import { hashOf, type Route } from "./routes.ts"
import { Deliveries, Delivery } from "./Deliveries.tsx"
import { Notices } from "./Notices.tsx"
import { Secrets } from "./Secrets.tsx"
import { SessionContext } from "./SessionContext.ts"
import { Subscription } from "./Subscription.tsx"
import { Subscriptions } from "./Subscriptions.tsx"

export const View = ({ route }: { readonly route: Route }) => {
  const name = useContext(SessionContext)?.theme.name
  const title = titles[route.view]
  useEffect(() => {
    document.title = name === undefined ? title : `${title} · ${visibleLine(name)}`
  }, [title, name])
  switch (route.view) {
    case "subscriptions":
      return <Subscriptions route={route} />
    case "subscription":
      return <Subscription subscriptionId={route.subscriptionId} />
    case "deliveries":
      return <Deliveries route={route} />
    case "delivery":
      return <Delivery deliveryId={route.deliveryId} />
    case "secrets":
      return <Secrets route={route} />
    case "notices":
      return <Notices />
    case "nowhere":
      return (
        <>
          <h1 tabIndex={-1}>Page not found</h1>
          <p><a href={hashOf({ view: "subscriptions" })}>Show the subscriptions</a></p>
        </>
      )
  }
}

const titles: Readonly<Record<Route["view"], string>> = {
  subscriptions: "Subscriptions",
  subscription: "Subscription",
  deliveries: "Deliveries",
  delivery: "Delivery",
  secrets: "Secrets",
  notices: "Notices",
  nowhere: "Page not found"
}
