/** The subscriptions of rows, by id. */
import type { OperatorSubscription } from "@waybill/client/operator"
import { useRef } from "preact/hooks"
import { usePolled } from "./usePolled.ts"

type Named = Pick<OperatorSubscription, "area" | "client" | "endpointUrl" | "subscriptionId">

/** So many can be read in one call. */
const mostNamed = 100

const pollMillis = 30_000

/** Each is read once while the view is open; one that was deleted stays unknown. */
export const useNames = <Client>(ids: ReadonlyArray<string>, list: (client: Client, subscriptionId: ReadonlyArray<string>, signal: AbortSignal) => Promise<{ readonly data: ReadonlyArray<Named> }>): ReadonlyMap<string, Named> => {
  const known = useRef(new Map<string, Named>())
  const unknown = [...new Set(ids)].filter((id) => !known.current.has(id)).toSorted().slice(0, mostNamed)
  const { data } = usePolled<{ readonly data: ReadonlyArray<Named> }, Client>(unknown.length === 0 ? undefined : `names ${unknown.join(" ")}`, (client, signal) => list(client, unknown, signal), pollMillis)
  for (const subscription of data?.data ?? []) known.current.set(subscription.subscriptionId, subscription)
  return known.current
}
