import { describe, expect, it } from "vitest"
import { WaybillHttp } from "../../src/index.ts"
import { ApiDescription, type Exchange } from "./ApiDescription.ts"

const description = new ApiDescription(WaybillHttp.openApi({ publicBaseUrl: "https://freight.example/api" }))

const subscription = { id: "S1", endpointUrl: "https://receiver.example/", hmacSecretId: "main", status: "active", createdAt: "2026-11-20T08:15:00Z", updatedAt: "2026-11-20T08:15:00Z" }

const problem = { status: 404, title: "Not found" }

interface Given extends Partial<Omit<Exchange, "headers">> {
  readonly body?: unknown
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

const exchange = ({ body, headers = {}, type = "application/json", ...more }: Given): Exchange => ({
  method: "GET",
  target: "/api/visibility/v1/subscriptions/S1",
  status: 200,
  headers: new Headers({ "content-type": type, ...headers }),
  text: body === undefined ? "" : JSON.stringify(body),
  ...more
})

describe("a description of the API", () => {
  it("agrees with described responses, below the mount", () => {
    expect(description.faultOf(exchange({ body: subscription }))).toBeUndefined()
    expect(description.faultOf(exchange({ status: 404, body: problem, type: "application/problem+json" }))).toBeUndefined()
    expect(description.faultOf(exchange({ method: "DELETE", status: 204 }))).toBeUndefined()
    expect(description.faultOf(exchange({ target: "/api/healthz", body: {} }))).toBeUndefined()
    expect(description.faultOf(exchange({ method: "POST", status: 405, body: problem }))).toBeUndefined()
  })

  it.each<readonly [string, Given, string]>([
    ["a status that is not declared", { status: 202, body: subscription }, "declared are 200, 400"],
    ["another media type", { body: subscription, type: "text/plain" }, "the media type is text/plain, not application/json"],
    ["a missing member", { body: { ...subscription, id: undefined } }, "must have required property 'id'"],
    ["a member that is never sent", { body: { ...subscription, secret: "x" } }, "must NOT have additional properties"],
    ["a value outside of its list", { body: { ...subscription, status: "asleep" } }, "/status must be equal to one of the allowed values"],
    ["a date-time that is none", { body: { ...subscription, createdAt: "2026-11-20" } }, "/createdAt must match format"],
    ["a body where there is none", { method: "DELETE", status: 204, body: subscription }, "the document declares no body"],
    ["a header of another type", { status: 429, body: { status: 429, title: "x" }, type: "application/problem+json", headers: { "retry-after": "soon" } }, "header Retry-After"],
    ["an accepted method that is not described", { method: "PUT", body: subscription }, "the path has no such method"],
    ["an accepted path that is not described", { target: "/api/visibility/v1/nothing", body: {} }, "it has no such path"],
    [
      "an accepted request that is not described",
      { method: "PATCH", body: subscription, sent: { status: "asleep" } },
      "the accepted request: /status"
    ]
  ])("finds %s", (_, given, fault) => expect(description.faultOf(exchange(given))).toContain(fault))

  it("finds a webhook without its headers or of another shape", () => {
    const headers = { "webhook-id": "D1", "webhook-timestamp": "1", "webhook-signature": "v1,x" }
    expect(description.faultOfNotification({ headers, body: { deliveryId: "D1", sentAt: "2026-11-20T08:15:00Z", events: [] } })).toContain("/events must NOT have fewer than 1 items")
    expect(description.faultOfNotification({ headers: { ...headers, "webhook-signature": undefined }, body: { events: [] } })).toContain("no header webhook-signature")
    expect(description.faultOfNotification({ headers, body: { proNumber: "1" } })).toContain("shipmentStatus")
    expect(description.faultOfNotification({ headers, body: { deliveryId: "D1", sentAt: "2026-11-20T08:15:00Z", pickups: [] } })).toContain("/pickups must NOT have fewer than 1 items")
  })
})
