/** The operator's subscription calls with Postgres as storage. */
import { postgresWaybill } from "../PostgresWaybill.ts"

// Loaded by path, because another package's tests cannot be imported.
const calls = new URL("../../../http/test/operator/SubscriptionCalls.ts", import.meta.url).pathname
const { subscriptionCalls } = await import(calls) as { readonly subscriptionCalls: (service: { readonly waybill: typeof postgresWaybill }) => void }

subscriptionCalls({ waybill: postgresWaybill })
