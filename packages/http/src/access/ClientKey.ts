/** What counters and shares of a client are kept by. */
import type { Principal } from "@waybill/core"

/** A text for each client of each tenant. */
export const clientKeyOf = ({ client, tenantId }: Principal): string => JSON.stringify([tenantId, client])
