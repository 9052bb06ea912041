/** Shipments and charges as tables, for dispatchers and customers. */
import type { Charge, Stop } from "../database/schema.ts"
import { proNumberOf } from "../freight/messages.ts"
import type { Listed } from "../shipments/shipments.ts"
import { type Html, html } from "./html.ts"

const place = ({ city, name, state }: Stop): string => `${name}, ${city} ${state}`

/** `path` is where a shipment's own page is; `next` is the form of a shipment's next step, for dispatchers. */
export const shipmentsTable = (listed: ReadonlyArray<Listed>, path: string, next?: (shipment: Listed["shipment"]) => Html): Html =>
  listed.length === 0
    ? html`<p>There are no shipments.</p>`
    : html`<table>
<caption>The newest ${listed.length === 1 ? "shipment" : `${listed.length} shipments`}</caption>
<thead><tr><th scope="col">Shipment</th><th scope="col">PRO</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Status</th><th scope="col">Driver</th>${next && html`<th scope="col">Next</th>`}</tr></thead>
<tbody>${listed.map(({ delivery, driver, pickup, shipment }) =>
      html`<tr>
<th scope="row"><a href="${path}/${shipment.number}">${shipment.number}</a></th>
<td>${proNumberOf(shipment)}</td><td>${place(pickup)}</td><td>${place(delivery)}</td><td>${shipment.status}</td><td>${driver?.name ?? "none"}</td>${next && html`<td>${next(shipment)}</td>`}
</tr>`)}</tbody>
</table>`

export const shipmentFacts = ({ customer, delivery, driver, pickup, shipment }: Listed): Html => {
  const stop = (kind: string, { doneAt, ...at }: Stop) => html`<tr><th scope="row">${kind}</th><td>${place(at as Stop)}${doneAt !== null && `, ${doneAt.toISOString()}`}</td></tr>`
  return html`<table>
<caption>${customer.name}, account ${shipment.account}</caption>
<tbody>
<tr><th scope="row">Status</th><td>${shipment.status}</td></tr>
<tr><th scope="row">PRO</th><td>${proNumberOf(shipment)}</td></tr>
<tr><th scope="row">Bill of lading</th><td>${shipment.bolNumber}</td></tr>
<tr><th scope="row">Freight</th><td>${shipment.pallets} pallets, ${shipment.pounds} lb, class ${shipment.freightClass}, ${shipment.description}</td></tr>
${stop("Pickup", pickup)}${stop("Delivery", delivery)}
<tr><th scope="row">Driver</th><td>${driver === null ? "none" : `${driver.name}, truck ${driver.truck}`}</td></tr>
<tr><th scope="row">Bill</th><td>${shipment.billedAt === null ? "open" : "closed"}</td></tr>
</tbody>
</table>`
}

const dollars = (cents: number): string => (cents / 100).toFixed(2)

export const chargesTable = (charges: ReadonlyArray<Charge>): Html =>
  html`<h2>Charges</h2>
${charges.length === 0 ? html`<p>There are no charges.</p>` : html`<table>
<caption>In US dollars</caption>
<thead><tr><th scope="col">Charge</th><th scope="col">Amount</th></tr></thead>
<tbody>${charges.map(({ cents, kind }) => html`<tr><th scope="row">${kind}</th><td class="number">${dollars(cents)}</td></tr>`)}</tbody>
<tfoot><tr><th scope="row">Total</th><td class="number">${dollars(charges.reduce((sum, { cents }) => sum + cents, 0))}</td></tr></tfoot>
</table>`}`
