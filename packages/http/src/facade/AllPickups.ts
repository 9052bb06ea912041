/** Methods for pickups of every client. */
import { TenantPickups } from "@waybill/core"
import { hostActor } from "./AuditedMethods.ts"
import { ofTenant } from "./Methods.ts"
import type { AllPickupsMethods } from "./OperatorMethods.ts"
import { plain } from "./Plain.ts"
import type { Run } from "./Run.ts"

export const allPickupsOf = (run: Run): AllPickupsMethods => ({
  list: (tenantId, query = {}) => run(ofTenant(tenantId, TenantPickups, (all) => all.list(tenantId, plain(query)))),
  decide: (tenantId, pickupId, decision) => run(ofTenant(tenantId, TenantPickups, (all) => all.decide(tenantId, hostActor, pickupId, plain(decision))))
})
