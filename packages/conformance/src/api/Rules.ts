/** Every rule, in the order of reports. */
import type { Rule } from "./Rule.ts"
import { chargeNotificationRules } from "./freight-charges/ChargeNotificationRules.ts"
import { chargeSubscriptionRules } from "./freight-charges/ChargeSubscriptionRules.ts"
import { chargeWindowRules } from "./freight-charges/ChargeWindowRules.ts"
import { documentRules } from "./invoices/DocumentRules.ts"
import { fileRules } from "./invoices/FileRules.ts"
import { invoiceRules } from "./invoices/InvoiceRules.ts"
import { pickupRules } from "./pickups/PickupRules.ts"
import { lookupRules } from "./shipment-status/LookupRules.ts"
import { statusSubscriptionRules } from "./shipment-status/StatusSubscriptionRules.ts"
import { eventDeliveryRules } from "./transit-events/EventDeliveryRules.ts"
import { eventListRules } from "./transit-events/EventListRules.ts"
import { eventSubscriptionRules } from "./transit-events/EventSubscriptionRules.ts"
import { tokenRules } from "./TokenRules.ts"

/** The list of events comes after its deliveries, because these publish more. */
export const rules: ReadonlyArray<Rule> = [
  ...lookupRules,
  ...statusSubscriptionRules,
  ...invoiceRules,
  ...documentRules,
  ...fileRules,
  ...pickupRules,
  ...eventSubscriptionRules,
  ...eventDeliveryRules,
  ...eventListRules,
  ...chargeSubscriptionRules,
  ...chargeNotificationRules,
  ...chargeWindowRules,
  ...tokenRules
]
