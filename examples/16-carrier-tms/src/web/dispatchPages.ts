/** The dispatch screen: the board, a shipment, and the forms of the actions. For dispatchers only. */
import type { FastifyInstance, FastifyRequest } from "fastify"
import { asc } from "drizzle-orm"
import { accounts, type Charge, charges, drivers, type pickupOrders } from "../database/schema.ts"
import { type Booking, Dispatch, Refused, type Step, stepFrom, steps } from "../shipments/dispatch.ts"
import { pickupNumberOf, sendDriver, waitingPickups } from "../shipments/pickupOrders.ts"
import { chargesOf, findShipment, type Listed, listShipments } from "../shipments/shipments.ts"
import type { Parts } from "./app.ts"
import { type Html, html } from "./html.ts"
import { sendPage } from "./page.ts"
import { chargesTable, shipmentFacts, shipmentsTable } from "./shipmentViews.ts"

interface Numbered {
  Params: { number: number }
}
const params = { type: "object", properties: { number: { type: "integer", minimum: 1, maximum: 2_147_483_647 } } } as const
const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength, pattern: "\\S" }) as const
const whole = (maximum: number) => ({ type: "integer", minimum: 1, maximum }) as const
const bodyOf = <const P extends object>(properties: P) => ({ type: "object", required: Object.keys(properties), properties, additionalProperties: false })

type Drivers = ReadonlyArray<typeof drivers.$inferSelect>
const driverBody = () => bodyOf({ driverId: whole(2_147_483_647) })

const stopFields = (kind: "pickup" | "delivery") => ({
  [`${kind}.name`]: text(100),
  [`${kind}.street`]: text(100),
  [`${kind}.city`]: text(100),
  [`${kind}.state`]: { type: "string", pattern: "^[A-Z]{2}$" },
  [`${kind}.postalCode`]: { type: "string", pattern: "^\\d{5}$" }
})
const booking = bodyOf({
  account: text(50),
  bolNumber: text(50),
  description: text(200),
  freightClass: text(10),
  pallets: whole(30),
  pounds: whole(45_000),
  heightInches: whole(108),
  ...stopFields("pickup"),
  ...stopFields("delivery")
})
type BookingForm = Omit<Booking, "pickup" | "delivery"> & Record<`${"pickup" | "delivery"}.${keyof Booking["pickup"]}`, string>

/** Customers and strangers learn nothing about these pages. */
const onlyDispatchers = async (request: FastifyRequest): Promise<void> => {
  if (request.currentUser?.customer !== undefined || request.currentUser === undefined) throw new Refused("This page is for dispatchers.", 403)
}

export const dispatchPages = (app: FastifyInstance, { database, transact }: Pick<Parts, "database" | "transact">): void => {
  const dispatch = new Dispatch(transact)
  const allDrivers = () => database.select().from(drivers).orderBy(asc(drivers.name)).limit(1000)
  const options = { preHandler: onlyDispatchers }
  const shipmentOf = async ({ params: { number } }: FastifyRequest<Numbered>): Promise<Listed> => {
    const found = await findShipment(database, number, "all")
    if (found === undefined) throw new Refused(`There is no shipment ${number}.`, 404)
    return found
  }

  app.get("/", async (request, reply) => {
    const { currentUser: user } = request
    if (user === undefined) return reply.redirect("/login", 303)
    const listed = await listShipments(database, user.customer === undefined ? "all" : user.customer.accounts)
    return user.customer === undefined
      ? sendPage(reply, { title: "Board", user, body: shipmentsTable(listed, "/shipments", nextForm) })
      : sendPage(reply, { title: "Your freight", user, body: shipmentsTable(listed, "/my-freight") })
  })

  app.get("/book", options, async (request, reply) => {
    const known = await database.select().from(accounts).orderBy(asc(accounts.number)).limit(1000)
    return sendPage(reply, { title: "Book a shipment", user: request.currentUser, body: bookingForm(known.map(({ number }) => number)) })
  })
  app.post<{ Body: BookingForm }>("/shipments", { ...options, schema: { body: booking } }, async ({ body }, reply) => {
    const stop = (kind: "pickup" | "delivery") =>
      ({ name: body[`${kind}.name`], street: body[`${kind}.street`], city: body[`${kind}.city`], state: body[`${kind}.state`], postalCode: body[`${kind}.postalCode`] })
    const { account, bolNumber, description, freightClass, heightInches, pallets, pounds } = body
    const number = await dispatch.book({ account, bolNumber, description, freightClass, heightInches, pallets, pounds, pickup: stop("pickup"), delivery: stop("delivery") }, new Date())
    return reply.redirect(`/shipments/${number}`, 303)
  })

  app.get<Numbered>("/shipments/:number", { ...options, schema: { params } }, async (request, reply) => {
    const listed = await shipmentOf(request)
    const [entered, all] = [await chargesOf(database, listed.shipment.number), await allDrivers()]
    const body = html`${shipmentFacts(listed)}${actionForms(listed, all)}${chargesTable(entered)}${listed.shipment.billedAt === null && chargeForms(listed, entered)}`
    return sendPage(reply, { title: `Shipment ${listed.shipment.number}`, user: request.currentUser, body })
  })

  app.get("/pickups", options, async (request, reply) => {
    const [waiting, all] = [await waitingPickups(database), await allDrivers()]
    return sendPage(reply, { title: "Pickup orders", user: request.currentUser, body: pickupsTable(waiting, all) })
  })
  app.post<Numbered & { Body: { driverId: number } }>("/pickups/:number/send", { ...options, schema: { params, body: driverBody() } }, async (request, reply) => {
    await sendDriver(transact, request.params.number, request.body.driverId)
    return reply.redirect("/pickups", 303)
  })

  /** Each form posts here and shows the shipment again. */
  const action = <B>(path: string, body: object, act: (number: number, body: B, at: Date) => Promise<void>) =>
    app.post<Numbered & { Body: B }>(`/shipments/:number/${path}`, { ...options, schema: { params, body } }, async (request, reply) => {
      await act(request.params.number, request.body as B, new Date())
      return reply.redirect(`/shipments/${request.params.number}`, 303)
    })
  action<{ driverId: number }>("assign", driverBody(), (number, { driverId }, at) => dispatch.assign(number, driverId, at))
  action<{ step: Step }>("step", bodyOf({ step: { enum: Object.keys(steps) } }), (number, { step }, at) => dispatch.take(number, step, at))
  action<{ notes: string }>("delay", bodyOf({ notes: text(500) }), (number, { notes }, at) => dispatch.reportDelay(number, notes, at))
  action<{ kind: Charge["kind"]; dollars: string }>(
    "charges",
    bodyOf({ kind: { enum: charges.kind.enumValues }, dollars: { type: "string", pattern: "^\\d{1,6}(\\.\\d{2})?$" } }),
    (number, { dollars, kind }, at) => dispatch.addCharge(number, { kind, cents: Math.round(Number(dollars) * 100) }, at)
  )
  action<object>("close-bill", { type: ["object", "null"] }, (number, _body, at) => dispatch.closeBill(number, at))
}

const driverField = (all: Drivers): Html =>
  html`<label>Driver <select name="driverId">${all.map(({ id, name, truck }) => html`<option value="${id}">${name}, truck ${truck}</option>`)}</select></label>`

/** Buttons name their shipment for screen readers. */
const stepForm = (number: number, step: Step): Html =>
  html`<form method="post" action="/shipments/${number}/step"><input type="hidden" name="step" value="${step}"><button>${steps[step].label}<span class="unseen"> shipment ${number}</span></button></form>`

const nextForm = ({ number, status }: Listed["shipment"]): Html => {
  const step = stepFrom(status)
  if (step !== undefined) return stepForm(number, step)
  return status === "booked" ? html`<a href="/shipments/${number}">Assign a driver<span class="unseen"> to shipment ${number}</span></a>` : html`none`
}

const pickupsTable = (waiting: ReadonlyArray<typeof pickupOrders.$inferSelect>, all: Drivers): Html =>
  waiting.length === 0
    ? html`<p>No pickup waits for a driver.</p>`
    : html`<table>
<caption>Pickups that wait for a driver</caption>
<thead><tr><th scope="col">Pickup</th><th scope="col">At</th><th scope="col">Ready</th><th scope="col">Driver</th></tr></thead>
<tbody>${waiting.map(({ city, company, number, readyAt, state }) =>
      html`<tr><th scope="row">${pickupNumberOf(number)}</th><td>${company}, ${city} ${state}</td><td>${readyAt}</td>
<td><form method="post" action="/pickups/${number}/send">${driverField(all)} <button>Send the driver</button></form></td></tr>`)}</tbody>
</table>`

const actionForms = ({ shipment: { number, status } }: Listed, all: Drivers) => {
  const step = stepFrom(status)
  return html`<h2>Dispatch</h2>
${status === "booked" && html`<form class="fields" method="post" action="/shipments/${number}/assign">
${driverField(all)}
<button>Assign the driver</button>
</form>`}
${step !== undefined && stepForm(number, step)}
${status !== "delivered" && html`<form class="fields" method="post" action="/shipments/${number}/delay">
<label>Reason of a delay <input name="notes" maxlength="500" required></label>
<button>Report the delay</button>
</form>`}`
}

const chargeForms = ({ shipment: { number } }: Listed, entered: ReadonlyArray<Charge>) =>
  html`<form class="fields" method="post" action="/shipments/${number}/charges">
<label>Charge <select name="kind">${charges.kind.enumValues.map((kind) => html`<option>${kind}</option>`)}</select></label>
<label>Dollars <input name="dollars" inputmode="decimal" pattern="\\d{1,6}(\\.\\d{2})?" required></label>
<button>Add the charge</button>
</form>
${entered.length > 0 && html`<form method="post" action="/shipments/${number}/close-bill"><button>Close the bill</button></form>`}`

const bookingForm = (known: ReadonlyArray<string>) => {
  const field = (label: string, name: string) => html`<label>${label} <input name="${name}" required></label>`
  const stop = (kind: "pickup" | "delivery", legend: string) =>
    html`<fieldset><legend>${legend}</legend>
${field("Company", `${kind}.name`)}${field("Street", `${kind}.street`)}${field("City", `${kind}.city`)}${field("State, such as IL", `${kind}.state`)}${field("ZIP code", `${kind}.postalCode`)}
</fieldset>`
  return html`<form class="fields" method="post" action="/shipments">
<label>Account <select name="account">${known.map((number) => html`<option>${number}</option>`)}</select></label>
${field("Bill of lading", "bolNumber")}${field("Description", "description")}${field("Freight class", "freightClass")}
${field("Pallets", "pallets")}${field("Pounds", "pounds")}${field("Height in inches", "heightInches")}
${stop("pickup", "Pickup")}${stop("delivery", "Delivery")}
<button>Book</button>
</form>`
}
