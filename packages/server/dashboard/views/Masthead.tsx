/** Page header: current location, navigation and sign-out. */
import type { ComponentChildren } from "preact"
import { hashOf, type Route } from "../model/routes.ts"
import { Shown } from "../parts/Shown.tsx"

interface MastheadProps {
  readonly route: Route
  readonly forget: () => void
  readonly children: ComponentChildren
}

export const Masthead = ({ children, forget, route }: MastheadProps) => {
  const tenantId = "tenantId" in route ? route.tenantId : undefined
  return (
    <header class="masthead">
      <div class="bar">
        <a class="brand" href="#/">Waybill</a>
        {tenantId !== undefined && <span class="tenant">Tenant <strong><Shown text={tenantId} /></strong> <a href="#/">change<span class="hidden"> the tenant</span></a></span>}
        <div class="status">
          {children}
          <button type="button" class="secondary outline small" onClick={forget}>Forget key</button>
        </div>
      </div>
      {tenantId !== undefined && <Sections route={route} tenantId={tenantId} />}
    </header>
  )
}

const Sections = ({ route, tenantId }: { readonly route: Route; readonly tenantId: string }) => {
  const dead = route.view === "deliveries" && route.state === "dead"
  const sections = [
    { name: "Subscriptions", to: hashOf({ view: "subscriptions", tenantId }), here: ["subscriptions", "subscription", "explain"].includes(route.view) },
    { name: "Deliveries", to: hashOf({ view: "deliveries", tenantId }), here: (route.view === "deliveries" && !dead) || route.view === "delivery" },
    { name: "Dead letters", to: hashOf({ view: "deliveries", tenantId, state: "dead" }), here: dead },
    { name: "Shipments", to: hashOf({ view: "shipments", tenantId }), here: route.view === "shipments" || route.view === "journey" },
    { name: "Pickups", to: hashOf({ view: "pickups", tenantId }), here: route.view === "pickups" }
  ]
  return (
    <nav aria-label="Sections" class="sections">
      <ul>
        {sections.map(({ here, name, to }) => (
          <li key={name}><a href={to} aria-current={here ? "page" : undefined}>{name}</a></li>
        ))}
      </ul>
    </nav>
  )
}
