/** Every rule, in the order of reports. */
import type { Rule } from "./Rule.ts"
import { eventDeliveryRules } from "./transit-events/EventDeliveryRules.ts"
import { eventListRules } from "./transit-events/EventListRules.ts"
import { eventSubscriptionRules } from "./transit-events/EventSubscriptionRules.ts"

/** The lists come after the deliveries, because these publish more. */
export const rules: ReadonlyArray<Rule> = [...eventSubscriptionRules, ...eventDeliveryRules, ...eventListRules]
