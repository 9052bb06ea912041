/** What operators do with subscriptions, once more with everything kept in Postgres. */
import { postgresWaybill } from "../PostgresWaybill.ts"

// another package's tests are no module of this one's
const calls = new URL("../../../http/test/operator/SubscriptionCalls.ts", import.meta.url).pathname
const { subscriptionCalls } = await import(calls) as { readonly subscriptionCalls: (service: { readonly waybill: typeof postgresWaybill }) => void }

subscriptionCalls({ waybill: postgresWaybill })
