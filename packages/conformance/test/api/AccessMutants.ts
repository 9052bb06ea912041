/** Broken implementations that serve a caller what is another's, or whoever calls. */
import { jsonReply } from "./MutatingProxy.ts"
import { confusing, type Json, type Mutant } from "./Mutations.ts"

const open = /\/shipment\/.*\/public$/u
const range = /^\/in-transit\/v1\/shipment\/po\/[^/]+\/[^/]+\/[^/]+\/verified$/u
const document = /^\/invoicing\/documents\/./u

/** One call is served whoever makes it. */
const anybody = (method: string, path: RegExp, as: "customer" | "carrier") => confusing("nobody", as, path, (call) => call.method === method)

/** Public lookups of the other customer's shipment find nothing. */
const hidesOthers: Pick<Mutant, "answer"> = {
  answer: (reply, call, { foreignShipment }) => open.test(call.path) && reply.body.includes(foreignShipment!.proNumber) ? jsonReply(404, {}) : reply
}

export const accessMutants: ReadonlyArray<Mutant> = [
  ...["pro", "bol", "po"].map((kind): Mutant => ({ rule: `a-${kind}-public-foreign`, name: "the public form is for the shipment's customer only", seen: "answered 404", ...hidesOthers })),
  { rule: "a-verified-unauthenticated", name: "anybody sees the verified form by a BOL number", seen: "answered 200", ...anybody("GET", /\/bol\/.*\/verified$/u, "customer") },
  { rule: "a-verified-unauthenticated", name: "anybody sees the verified form by a PO number", seen: "answered 200", ...anybody("GET", /\/po\/[^/]+\/[^/]+\/verified$/u, "customer") },
  {
    rule: "a-range-access",
    name: "another customer's shipment is in the range",
    seen: "is not the caller's",
    answer: (reply, call, { foreignShipment }) => {
      if (!range.test(call.path) || reply.status !== 200) return reply
      const found: ReadonlyArray<Json> = JSON.parse(reply.body)
      return { ...reply, body: JSON.stringify([...found, { ...found[0], ProNumber: foreignShipment!.proNumber }]) }
    }
  },
  ...(["GET", "PUT", "DELETE"] as const).map((method): Mutant => ({ rule: "b-unauthenticated", name: `anybody may ${method} an invoice`, seen: "answered 40", ...anybody(method, /^\/invoicing\/invoices\/./u, "carrier") })),
  { rule: "b-foreign", name: "the list of a shipment shows another customer its invoices", seen: "The list of another customer", ...confusing("other", "carrier", /\/invoices$/u, ({ query }) => query.has("shipmentID")) },
  { rule: "b-documents-unauthenticated", name: "anybody may upload", seen: "answered 201", ...anybody("POST", /^\/invoicing\/documents$/u, "carrier") },
  ...(["GET", "DELETE"] as const).map((method): Mutant => ({ rule: "b-documents-unauthenticated", name: `anybody may ${method} documents`, seen: "answered 404", ...anybody(method, document, "carrier") })),
  {
    rule: "b-document-customer-reads",
    name: "the customer does not see its documents",
    seen: "answered 404",
    call: (call, { clients }) => document.test(call.path) && call.headers["x-api-key"] === (clients!.customer as Json).apiKey ? jsonReply(404, ["300"]) : call
  },
  ...(["PUT", "DELETE"] as const).map((method): Mutant => ({ rule: "c-unauthenticated", name: `anybody may ${method} a pickup`, seen: "answered 40", ...anybody(method, /^\/pickup\/v1\/pickups\/./u, "customer") })),
  ...(["GET", "PATCH", "DELETE"] as const).map((method): Mutant => ({ rule: "d-subscriptions-unauthenticated", name: `anybody may ${method} a subscription`, seen: "answered 404", ...anybody(method, /^\/visibility\/v1\/subscriptions\/./u, "customer") })),
  {
    rule: "d-delivered-foreign",
    name: "a filter that names a shipment gives access to it",
    seen: "has no access to it",
    call: (call, { clients, events }) => call.method === "POST" && call.body.includes(events!.foreignShipmentId) ? { ...call, headers: { ...call.headers, "x-api-key": (clients!.other as Json).apiKey } } : call
  },
  {
    rule: "e-in-flight-all-accounts",
    name: "all accounts are those of every customer",
    seen: "which is not the caller's",
    answer: (reply, call, { bills }) => {
      if (!call.path.endsWith("/inflight")) return reply
      const list: ReadonlyArray<Json> = JSON.parse(reply.body)
      return { ...reply, body: JSON.stringify([...list, ...list.map((bill) => ({ ...bill, billTo: { ...bill.billTo, account: bills!.foreignAccount } }))]) }
    }
  },
  { rule: "e-unauthenticated", name: "anybody may test webhooks", seen: "webhooks/test answered", ...anybody("POST", /\/webhooks\/test$/u, "customer") },
  { rule: "e-unauthenticated", name: "anybody may cancel", seen: "answered 404", ...anybody("DELETE", /^\/pfc\/v1\/subscriptions\/./u, "customer") },
  { rule: "e-unauthenticated", name: "anybody may list bills in flight", seen: "answered 404", ...anybody("GET", /\/inflight$/u, "customer") },
  {
    rule: "e-create-foreign-account",
    name: "only the first account is checked",
    seen: "answered 201",
    call: (call, { bills }) => call.method === "POST" && call.body.includes(`,"${bills!.foreignAccount}"]`) ? jsonReply(201, { subscriptionId: "1" }) : call
  }
]
