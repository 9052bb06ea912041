/** An entry of the audit log. */
import type { AuditRecord } from "@waybill/core"

export const auditEntry = ({ at, id, tenantId }: Pick<AuditRecord, "id" | "at" | "tenantId">): AuditRecord => ({
  id,
  at,
  actor: { kind: "operator", name: "operator" },
  address: undefined,
  action: "tenant.put",
  tenantId,
  object: { kind: "tenant", id: tenantId },
  result: "ok",
  status: 200,
  requestId: "request"
})
