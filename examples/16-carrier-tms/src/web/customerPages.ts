/** What a customer's users see: their freight, and where their webhooks go. */
import { eq } from "drizzle-orm"
import type { FastifyInstance, FastifyRequest } from "fastify"
import type { User } from "../accounts/sessions.ts"
import { customers } from "../database/schema.ts"
import { carrier, clientOf, principalOf } from "../freight/principals.ts"
import { Refused } from "../shipments/dispatch.ts"
import { chargesOf, findShipment } from "../shipments/shipments.ts"
import type { Parts } from "./app.ts"
import { html } from "./html.ts"
import { sendPage } from "./page.ts"
import { chargesTable, shipmentFacts } from "./shipmentViews.ts"

const customerOf = ({ currentUser: user }: FastifyRequest): User & { readonly customer: NonNullable<User["customer"]> } => {
  if (user?.customer === undefined) throw new Refused("This page is for customers.", 403)
  return { ...user, customer: user.customer }
}

const endpoint = { type: "object", required: ["url"], properties: { url: { type: "string", minLength: 1, maxLength: 2000 } }, additionalProperties: false } as const

export const customerPages = (app: FastifyInstance, { database, transact, waybill }: Pick<Parts, "database" | "transact" | "waybill">): void => {
  app.get<{ Params: { number: number } }>("/my-freight/:number", {
    schema: { params: { type: "object", properties: { number: { type: "integer", minimum: 1, maximum: 2_147_483_647 } } } }
  }, async (request, reply) => {
    const user = customerOf(request)
    const found = await findShipment(database, request.params.number, user.customer.accounts)
    // another customer's shipment answers like one that does not exist
    if (found === undefined) throw new Refused(`There is no shipment ${request.params.number}.`, 404)
    const charges = await chargesOf(database, found.shipment.number)
    return sendPage(reply, { title: `Shipment ${found.shipment.number}`, user, body: html`${shipmentFacts(found)}${chargesTable(charges)}` })
  })

  app.get("/webhooks", async (request, reply) => {
    const user = customerOf(request)
    const { data } = await waybill.portal.subscriptions(principalOf(user))
    return sendPage(reply, {
      title: "Webhooks",
      user,
      body: html`<p>Your system gets the events and the charges of your freight as signed requests. ${data.length > 0 && html`Look after them in <a href="/portal/">the portal</a>.`}</p>
<form class="fields" method="post" action="/webhooks">
<label>Address of your system <input name="url" type="url" placeholder="https://" required></label>
<button>Send webhooks there</button>
</form>
<h2>Programs</h2>
<p>Your programs call the interfaces below <code>/freight</code> with a key: they look up shipments and order pickups. A new key ends the previous one.</p>
<form method="post" action="/api-key"><button>Create a key</button></form>`
    })
  })

  app.post<{ Body: { url: string } }>("/webhooks", { schema: { body: endpoint } }, async (request, reply) => {
    const user = customerOf(request)
    const principal = principalOf(user)
    const { url } = request.body
    const client = clientOf(user.customer.id)
    const hmacSecretId = `webhooks-of-${client}`
    // until something is signed with it; then a new secret is made in the portal, where the old one keeps signing for a while
    const isFirst = (await waybill.portal.subscriptions(principal)).data.length === 0
    const secret = isFirst ? await waybill.secrets.put(carrier.tenantId, hmacSecretId, { client }) : undefined
    // both or none
    await transact(async (_tx, freight) => {
      await freight.subscriptions.create(principal, { endpointUrl: url, hmacSecretId })
      await freight.chargeSubscriptions.create(principal, { webhookUrl: url, hmacSecretId, accounts: user.customer.accounts, dataOptions: {} })
    })
    return sendPage(reply, {
      title: "Webhooks",
      user,
      body: html`<p role="status">Events and charges go to ${url}.</p>
${secret !== undefined && html`<p>Check the signatures with this secret. It is shown once: <code>${secret.secret}</code></p>`}
<p><a href="/portal/">Open the portal</a></p>`
    })
  })

  app.post("/api-key", async (request, reply) => {
    const user = customerOf(request)
    const { accounts, id } = user.customer
    const created = await waybill.apiKeys.create(carrier.tenantId, { name: clientOf(id), roles: ["customer"], accounts })
    const previous = await database.transaction(async (tx) => {
      const [locked] = await tx.select().from(customers).where(eq(customers.id, id)).for("update")
      await tx.update(customers).set({ apiKeyId: created.id }).where(eq(customers.id, id))
      return locked?.apiKeyId
    })
    if (previous != null) await waybill.apiKeys.revoke(carrier.tenantId, previous)
    return sendPage(reply, { title: "Programs", user, body: html`<p role="status">The key is shown once. Send it as <code>X-API-Key</code>: <code>${created.key}</code></p>` })
  })
}
