/** Methods for operators and portals take every member that their HTTP calls take. `npm run check` compares them. */
import type * as core from "@waybill/core"
import type { DeadLettersCall, DeliveryListQuery, SecretListQuery, SecretSettings } from "@waybill/core/delivery"
import { expectTypeOf, it } from "vitest"
import type * as http from "../../src/index.ts"
import type { PortalContract } from "../../src/portal/PortalContract.ts"

type Members<Call extends { readonly Encoded: unknown }> = keyof Call["Encoded"]

it("queries, filters and settings of operators have the members of their HTTP calls", () => {
  expectTypeOf<keyof http.AllSubscriptionsQuery>().toEqualTypeOf<Members<typeof core.SubscriptionListQuery>>()
  expectTypeOf<keyof http.AllPickupsQuery>().toEqualTypeOf<Members<typeof core.PickupListQuery>>()
  expectTypeOf<keyof http.AuditListQuery>().toEqualTypeOf<Members<typeof core.AuditQuery>>()
  expectTypeOf<keyof http.DeliveriesQuery>().toEqualTypeOf<Members<typeof DeliveryListQuery>>()
  expectTypeOf<keyof http.StatisticsQuery>().toEqualTypeOf<Members<typeof core.StatisticsQuery>>()
  expectTypeOf<keyof http.DeadLettersFilter>().toEqualTypeOf<Members<typeof DeadLettersCall>>()
  expectTypeOf<keyof http.PurgeFilter>().toEqualTypeOf<Members<typeof core.PurgeCall>>()
  expectTypeOf<keyof http.ReplayRange>().toEqualTypeOf<Members<typeof core.ReplayCall>>()
  expectTypeOf<keyof http.SecretSettings>().toEqualTypeOf<Members<typeof SecretSettings>>()
  expectTypeOf<keyof http.PageQuery>().toEqualTypeOf<Members<typeof core.ApiKeyListQuery | typeof core.ClientListQuery | typeof SecretListQuery | typeof core.TenantListQuery>>()
})

it("queries of a portal have at least the members of their HTTP calls", () => {
  expectTypeOf<keyof NonNullable<(typeof PortalContract)["endpoints"]["listPortalSubscriptions"]["query"]>>().toExtend<keyof http.PortalSubscriptionsQuery>()
  expectTypeOf<keyof NonNullable<(typeof PortalContract)["endpoints"]["listPortalDeliveries"]["query"]>>().toExtend<keyof http.DeliveriesQuery>()
})
