/** The key of the counters and shares of a client. */
import type { Principal } from "@waybill/core"

/** A text for each client of each tenant. */
export const clientKeyOf = ({ client, tenantId }: Principal): string => JSON.stringify([tenantId, client])
