/** A tenant on a running server, created through the operator API. */
import { IntakeClient, OperatorClient, TransitEventsClient } from "@waybill/client"

export interface TestTenant {
  readonly operator: OperatorClient
  readonly carrierKey: string
  readonly customerKey: string
  readonly secret: string
  readonly intakeAt: (baseUrl: string) => IntakeClient
  readonly customerAt: (baseUrl: string) => TransitEventsClient
}

export const account = "A-1"

export const tenantOn = async (baseUrl: string, operatorKey: string, tenantId = "acme"): Promise<TestTenant> => {
  const operator = new OperatorClient({ baseUrl, apiKey: operatorKey })
  await operator.putTenant(tenantId, { name: "Acme Freight" })
  const carrier = await operator.createApiKey(tenantId, { name: "tms", roles: ["carrier"] })
  const customer = await operator.createApiKey(tenantId, { name: "shipper", roles: ["customer"], accounts: [account] })
  const { secret } = await operator.putSecret(tenantId, "main", { anyClient: true })
  return {
    operator,
    carrierKey: carrier.key,
    customerKey: customer.key,
    secret,
    intakeAt: (url) => new IntakeClient({ baseUrl: url, apiKey: carrier.key }),
    customerAt: (url) => new TransitEventsClient({ baseUrl: url, apiKey: customer.key })
  }
}

const place = { name: "Chicago terminal", city: "Chicago", state: "IL", postalCode: "60608", country: "USA" }

export const event = (shipmentId: string, number: number) => ({
  eventId: `${shipmentId}/${number}`,
  type: "IN_TRANSIT" as const,
  occurredAt: "2026-11-20T08:15:00-06:00",
  shipment: { shipmentId, origin: place, destination: place },
  parties: { accounts: [account] }
})

/** The fewest fields that the service accepts. */
export const leastOrder = {
  isTest: false,
  readyDate: `${new Date().getUTCFullYear() + 1}-11-20`,
  pickupAddress: [{ orgAddressName: "Acme", orgAddressLine1: "1 Main St", orgCity: "Omaha", orgState: "NE", orgZip: "68102", orgCountry: "USA" }],
  grossPickupWeight: 640,
  weightUofM: "LB",
  handlingUnitCount: 2,
  linearFeet: 4
} as const
