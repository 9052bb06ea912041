/** Keeps the accounts that may see an invoice or a record of documents, when one of these is written. */
import { Effect } from "effect"
import type { PgClient } from "../client/PgClient.ts"
import { textArray } from "../client/SqlRow.ts"
import { type Statement, tenant } from "../client/SqlStatement.ts"
import * as statements from "../shared/InvoiceAccountsSql.ts"

/**
 * A change of a shipment's accounts also replaces those that may see its invoices and documents. Without this lock, either could miss what the
 * other has not committed. Call it before a write of the row. `next`: the shipment whose accounts see the row from now on.
 */
export const makeLockShipmentsOf = (sql: PgClient, schema: Statement, of: statements.SeenRows) =>
  Effect.fnUntraced(function*(tenantId: string, key: statements.SeenRowKey, next: ReadonlyArray<string>) {
    const before = yield* sql.rows(statements.shipmentRow, statements.shipmentOf(schema, tenant(tenantId), of, key))
    const shipments = new Set([...before.filter(({ isAddressed }) => !isAddressed).map(({ shipmentId }) => shipmentId), ...next])
    if (shipments.size > 0) yield* sql.run(statements.lockInvoiced(schema, tenant(tenantId), textArray([...shipments])))
  })
