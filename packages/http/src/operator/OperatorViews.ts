/** Response schemas of the operator API that core does not have: pages, and values that are shown once. */
import { ApiKeyView, AuditEntry, ClientView, Count, FoundShipment, NextCursor, PickupView, SubscriptionView, tenantStates } from "@waybill/core"
import { DeliveryView, SecretView } from "@waybill/core/delivery"
import { Schema } from "effect"

const page = <S extends Schema.Top>(identifier: string, entry: S) => Schema.Struct({ data: Schema.Array(entry), nextCursor: NextCursor }).annotate({ identifier })

const total = Schema.optionalKey(Count.annotate({ description: "Of all pages, if it was asked for and could be counted fast. 10,000 means that many or more." }))

const countedPage = <S extends Schema.Top>(identifier: string, entry: S) => Schema.Struct({ data: Schema.Array(entry), nextCursor: NextCursor, total }).annotate({ identifier })

export const Tenant = Schema.Struct({
  tenantId: Schema.String,
  name: Schema.String,
  hosts: Schema.Array(Schema.String),
  state: Schema.Literals(tenantStates).annotate({ description: "suspended: calls are refused, and nothing is sent." })
}).annotate({ identifier: "Tenant" })

export const TenantStateShown = Schema.Struct({ tenantId: Schema.String, state: Schema.Literals(tenantStates) }).annotate({ identifier: "TenantState" })

export const ApiKey = Schema.Struct({
  id: Schema.String,
  key: Schema.String.annotate({ description: "Shown once; only its hash is kept." })
}).annotate({ identifier: "ApiKey" })

export const SigningSecret = Schema.Struct({
  hmacSecretId: Schema.String,
  secret: Schema.String.annotate({ description: "Signs new deliveries. Give it to the receiver." })
}).annotate({ identifier: "SigningSecret" })

export const TenantsPage = page("TenantsPage", Tenant)
export const AuditPage = page("AuditPage", AuditEntry)
export const ApiKeysPage = page("ApiKeysPage", ApiKeyView)
export const ClientsPage = page("ClientsPage", ClientView)
export const SecretsPage = page("SecretsPage", SecretView)
export const DeliveriesPage = countedPage("DeliveriesPage", DeliveryView)
export const SubscriptionsPage = countedPage("OperatorSubscriptionsPage", SubscriptionView)
export const PickupsPage = page("OperatorPickupsPage", PickupView)

export const FoundShipments = Schema.Struct({ data: Schema.Array(FoundShipment) }).annotate({ identifier: "NamedShipments" })
