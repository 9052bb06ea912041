/** One lane. The list goes by id, so it is the first one after the id right before its own. */
import type { CallOptions } from "@waybill/client/connection"
import type { Lane, OperatorClient } from "@waybill/client/operator"
import { idBefore } from "../model/idBefore.ts"

/** `undefined` when there is none. */
export const laneOf = async (client: OperatorClient, tenantId: string, subscriptionId: string, options: CallOptions): Promise<Lane | undefined> => {
  const cursor = idBefore(subscriptionId)
  if (cursor === undefined) return undefined
  const { data: [lane] } = await client.listSubscriptions(tenantId, { cursor, limit: 1 }, options)
  return lane?.subscriptionId === subscriptionId ? lane : undefined
}
