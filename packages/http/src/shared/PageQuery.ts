/** Pagination parameters of lists with a cursor. */
import { defaultListLimit, type TenantListQuery } from "@waybill/core"

export const pageOf = (fields: Pick<typeof TenantListQuery.fields, "cursor" | "limit">) => ({
  cursor: { kind: "text", schema: fields.cursor.schema, description: "nextCursor of the previous page." },
  limit: { kind: "integer", schema: fields.limit.schema, description: "Maximum number of results. A page of large results has fewer.", default: defaultListLimit }
} as const)
