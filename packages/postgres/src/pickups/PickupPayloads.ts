/** The bytes that the delivery queue sends of pickups, and which carriers may see them. */
import { type Expression, raw, type Statement, statement } from "../client/SqlStatement.ts"
import type { PayloadSource } from "../delivery/PayloadSource.ts"

/** Whether a client is a carrier with a number that may see a pickup of these accounts: one of its own, or one that no carrier has decided. */
const carrierSees = (schema: Statement, tenant: Expression, client: Expression, accounts: Expression) => statement`EXISTS (
    SELECT FROM ${schema}.client_accounts AS ca
    WHERE ca.tenant_id = ${tenant} AND ca.client = ${client} AND ca.account LIKE ' %'
      AND (ca.account = ANY (${accounts}) OR NOT EXISTS (SELECT FROM unnest(${accounts}) AS account WHERE account LIKE ' %'))
    OFFSET 0
  )`

const seesAll = (schema: Statement, tenant: Expression, client: Expression) =>
  statement`EXISTS (SELECT FROM ${schema}.clients AS c WHERE c.tenant_id = ${tenant} AND c.client = ${client} AND c.sees_all OFFSET 0)`

/** Whether a client may see a pickup of these accounts, by any of its credentials. */
export const clientSeesAccounts = (schema: Statement, tenant: Expression, client: Expression, accounts: Expression) =>
  statement`(${seesAll(schema, tenant, client)} OR ${carrierSees(schema, tenant, client, accounts)})`

/** For statements of the delivery queue, which are texts with the tenant as `$1`. */
const carrierSeesText = (schema: string, client: string, key: string): string => `EXISTS (
    SELECT FROM (
      SELECT p.accounts FROM ${schema}.pickups AS p WHERE p.tenant_id = $1 AND p.pickup_id = (${key})::uuid
      OFFSET 0
    ) AS p
    WHERE ${carrierSees(raw(schema), raw("$1"), raw(client), raw("p.accounts")).text}
    OFFSET 0
  )`

export const pickupPayloads: PayloadSource = {
  source: "pickups",
  table: "pickup_changes",
  ref: "change_no",
  orderId: "change_no::text",
  key: `pickup_id::text COLLATE "C"`,
  sequence: "change_no",
  judged: "by key",
  visible: (schema, client, key) => `(${seesAll(raw(schema), raw("$1"), raw(client)).text} OR ${carrierSeesText(schema, client, key)})`
}
