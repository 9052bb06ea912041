/** SQL statements for signing secrets. */
import type { StoredSecret } from "@waybill/core/delivery"
import { bool, byteaArray, int4, int8, optional, row, text, textArray, timestamptz, timestamptzArray } from "../../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { signalChanged } from "../DeliveryEntrySql.ts"
import { lockDestinations } from "../DestinationSql.ts"

/** The account in an account within a carrier (`accountWithin`), null in everything else. */
const carriersAccount = "substring(owner.account from '^ [^ ]+ [^ ]+ (.*)$')"

/**
 * Whether a client may have webhooks signed with a secret: `secret` is an alias of the table of secrets, `client` an
 * expression that is a qualified client, `$1` the tenant. The same rule as core's `secretUsableBy`, by the client's stored accounts.
 */
export const secretUsableBy = (schema: string, secret: string, client: string) => `(
  ${secret}.any_client OR ${secret}.client = ${client} OR EXISTS (
    SELECT FROM ${schema}.client_accounts AS owner
    WHERE owner.tenant_id = $1 AND owner.client = ${client}
      AND (owner.account = ANY (${secret}.accounts) OR ${carriersAccount} = ANY (${secret}.accounts))
  )
)`

const ownerColumns = { client: optional(text), accounts: textArray, anyClient: bool }

export const secretRow = row({
  sealed: byteaArray,
  signsUntil: timestamptzArray,
  ...ownerColumns,
  bodySignature: bool,
  createdAt: timestamptz,
  rotatedAt: optional(timestamptz),
  now: timestamptz
})

/** Without the first, which is NULL: postgres.js, whose transactions hosts hand out, reads NULL in an array as text, an invalid date or NaN. */
export const endsOfVersions = (alias: Statement) => statement`${alias}signs_until[2:] AS signs_until`

/** Locked against changes, if it is for use by a destination that is being opened. */
export const findSecret = (schema: Statement, tenantId: string, hmacSecretId: string, lock: "" | "FOR SHARE") => statement`
SELECT sealed, ${endsOfVersions(nothing)}, client, accounts, any_client, body_signature, created_at, rotated_at, now() AS now
FROM ${schema}.secrets WHERE tenant_id = ${tenant(tenantId)} AND hmac_secret_id = ${hmacSecretId} ${raw(lock)}`

/** Runs before `findSecret`. A missing row cannot be locked, so a row without versions, which does not count as a secret, is locked until `put`. */
export const lockSecretForPut = (schema: Statement, tenantId: string, hmacSecretId: string) => statement`
INSERT INTO ${schema}.secrets AS s (tenant_id, hmac_secret_id, sealed, signs_until, accounts, any_client, body_signature, created_at)
VALUES (${tenant(tenantId)}, ${hmacSecretId}, '{}', '{}', '{}', false, false, now())
ON CONFLICT (tenant_id, hmac_secret_id) DO UPDATE SET sealed = s.sealed`

export const putSecret = (schema: Statement, tenantId: string, hmacSecretId: string, { bodySignature, createdAt, owner, rotatedAt, versions }: StoredSecret) => statement`
INSERT INTO ${schema}.secrets
  (tenant_id, hmac_secret_id, sealed, signs_until, client, accounts, any_client, body_signature, created_at, rotated_at)
SELECT ${tenant(tenantId)}, ${hmacSecretId}, ${byteaArray(versions.map((version) => version.sealed))},
  ${timestamptzArray(versions.map((version) => version.signsUntil ?? null))}, ${text(owner._tag === "Client" ? owner.client : null)},
  ${textArray(owner._tag === "Accounts" ? owner.accounts : [])}, ${bool(owner._tag === "AnyClient")}, ${bool(bodySignature)},
  ${timestamptz(createdAt)}, ${timestamptz(rotatedAt)}
ON CONFLICT (tenant_id, hmac_secret_id) DO UPDATE
SET sealed = EXCLUDED.sealed,
    signs_until = EXCLUDED.signs_until,
    client = EXCLUDED.client,
    accounts = EXCLUDED.accounts,
    any_client = EXCLUDED.any_client,
    body_signature = EXCLUDED.body_signature,
    created_at = EXCLUDED.created_at,
    rotated_at = EXCLUDED.rotated_at`

/** The owners of some open destinations `l` load them again. */
const raiseDestinations = (schema: Statement, tenantId: string, condition: Statement) => statement`
WITH locked AS MATERIALIZED (${
  lockDestinations(schema, tenantId, statement`= ANY (ARRAY(
    SELECT l.destination_id FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${tenant(tenantId)} AND l.state <> 'closed' AND ${condition}
  ))`)
}),
changed AS (
  UPDATE ${schema}.delivery_destinations AS l SET version = l.version + 1
  WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id = ANY (ARRAY(SELECT destination_id FROM locked))
  RETURNING l.destination_id
)
${signalChanged(schema, tenant(tenantId))}`

/** After the write of the secret, which waits for those that open destinations with it. */
export const raiseSignedDestinations = (schema: Statement, tenantId: string, hmacSecretId: string) =>
  raiseDestinations(schema, tenantId, statement`l.hmac_secret_id = ${hmacSecretId}`)

/** After a change of a client's accounts: a secret that belongs to accounts may be the client's no longer, or be its own now. */
export const raiseDestinationsOfAccounts = (schema: Statement, tenantId: string, client: string) =>
  raiseDestinations(schema, tenantId, statement`l.client = ${client} AND EXISTS (
      SELECT FROM ${schema}.secrets AS s WHERE s.tenant_id = ${tenant(tenantId)} AND s.hmac_secret_id = l.hmac_secret_id AND cardinality(s.accounts) > 0
      OFFSET 0
    )`)

export const listedRow = row({ hmacSecretId: text, ...ownerColumns, createdAt: timestamptz, rotatedAt: optional(timestamptz), signsUntil: optional(timestamptz), usedBy: int4 })

export const pageSecrets = (
  schema: Statement,
  tenantId: string,
  { after, client, counted, limit }: { readonly after: string; readonly client: string | undefined; readonly limit: number; readonly counted: number }
) => statement`
SELECT s.hmac_secret_id, s.client, s.accounts, s.any_client, s.created_at, s.rotated_at,
       (SELECT max(until) FROM unnest(s.signs_until) AS until WHERE until > now()) AS signs_until,
       (SELECT count(*)::int4 FROM (
          SELECT FROM ${schema}.delivery_destinations AS l
          WHERE l.tenant_id = ${tenant(tenantId)} AND l.hmac_secret_id = s.hmac_secret_id AND l.state <> 'closed'
          LIMIT ${int8(counted)}
        ) AS used) AS used_by
FROM ${schema}.secrets AS s
WHERE s.tenant_id = ${tenant(tenantId)} AND s.hmac_secret_id > ${after} AND cardinality(s.sealed) > 0${client === undefined ? raw("") : statement`
  AND s.client = ${client}`}
ORDER BY s.hmac_secret_id
LIMIT ${int8(limit)}`

/** In front of `removeSecret`: waits for those who hold the secret, so that what follows sees the destinations they opened. */
export const lockSecret = (schema: Statement, tenantId: string, hmacSecretId: string) => statement`
SELECT true AS found FROM ${schema}.secrets WHERE tenant_id = ${tenant(tenantId)} AND hmac_secret_id = ${hmacSecretId} FOR UPDATE`

export const removeSecret = (schema: Statement, tenantId: string, hmacSecretId: string) => {
  const id = text(hmacSecretId)
  return statement`
DELETE FROM ${schema}.secrets AS s
WHERE s.tenant_id = ${tenant(tenantId)} AND s.hmac_secret_id = ${id} AND NOT EXISTS (
  SELECT FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${tenant(tenantId)} AND l.hmac_secret_id = ${id} AND l.state <> 'closed'
)
RETURNING true AS found`
}

export const usableSecret = (schema: Statement, tenantId: string, hmacSecretId: string, client: string) => statement`
SELECT true AS found
FROM ${schema}.secrets AS s
CROSS JOIN (SELECT ${text(client)} AS client) AS c
WHERE s.tenant_id = ${tenant(tenantId)} AND s.hmac_secret_id = ${hmacSecretId} AND cardinality(s.sealed) > 0
  AND ${raw(secretUsableBy(schema.text, "s", "c.client"))}`
