/** The statements of signing secrets. Every one names its tenant. */

/** The account in an account within a carrier (`accountWithin`), null in everything else. */
const carriersAccount = "substring(owner.account from '^ [^ ]+ [^ ]+ (.*)$')"

/**
 * Whether a client may have webhooks signed with a secret: `secret` is an alias of the table of secrets, `client` an
 * expression that is a qualified client. The same rule as core's `secretUsableBy`, by what is stored of the client's accounts.
 */
export const secretUsableBy = (schema: string, secret: string, client: string) => `(
  ${secret}.any_client OR ${secret}.client = ${client} OR EXISTS (
    SELECT FROM ${schema}.client_accounts AS owner
    WHERE owner.tenant_id = ${secret}.tenant_id AND owner.client = ${client}
      AND (owner.account = ANY (${secret}.accounts) OR ${carriersAccount} = ANY (${secret}.accounts))
  )
)`

const millis = (instant: string) => `(extract(epoch FROM ${instant}) * 1000)::float8`

const columns = `sealed, signs_until, client, accounts, any_client, body_signature, ${millis("created_at")} AS created,
  ${millis("rotated_at")} AS rotated, ${millis("now()")} AS now`

export const secretTypes = ["bytea[]", "timestamptz[]", "text", "text[]", "bool", "bool", "float8", "float8", "float8"] as const

export const findSecret = (schema: string) => `
SELECT ${columns} FROM ${schema}.secrets WHERE tenant_id = $1 AND hmac_secret_id = $2`

export const findSecretForUse = (schema: string) => `${findSecret(schema)} FOR SHARE`

/** A missing row cannot be locked: one without versions, which nobody takes for a secret, stands in until it is put. */
export const findSecretForUpdate = (schema: string) => `
INSERT INTO ${schema}.secrets AS s (tenant_id, hmac_secret_id, sealed, signs_until, accounts, any_client, body_signature, created_at)
VALUES ($1, $2, '{}', '{}', '{}', false, false, now())
ON CONFLICT (tenant_id, hmac_secret_id) DO UPDATE SET sealed = s.sealed
RETURNING ${columns}`

export const putSecret = (schema: string) => `
INSERT INTO ${schema}.secrets
  (tenant_id, hmac_secret_id, sealed, signs_until, client, accounts, any_client, body_signature, created_at, rotated_at)
SELECT $1, $2, $3::bytea[], $4::timestamptz[], $5, $6::text[], $7, $8, at[1], at[2] FROM (SELECT $9::timestamptz[] AS at) AS times
ON CONFLICT (tenant_id, hmac_secret_id) DO UPDATE
SET sealed = EXCLUDED.sealed,
    signs_until = EXCLUDED.signs_until,
    client = EXCLUDED.client,
    accounts = EXCLUDED.accounts,
    any_client = EXCLUDED.any_client,
    body_signature = EXCLUDED.body_signature,
    created_at = EXCLUDED.created_at,
    rotated_at = EXCLUDED.rotated_at`

/** Counting stops at `$4`. */
export const pageSecrets = (schema: string) => `
SELECT s.hmac_secret_id, s.client, s.accounts, s.any_client, ${millis("s.created_at")} AS created, ${millis("s.rotated_at")} AS rotated,
       (SELECT ${millis("max(until)")} FROM unnest(s.signs_until) AS until WHERE until > now()) AS until,
       (SELECT count(*)::int4 FROM (
          SELECT FROM ${schema}.delivery_destinations AS l
          WHERE l.tenant_id = $1 AND l.hmac_secret_id = s.hmac_secret_id AND l.state <> 'closed'
          LIMIT $4::int8
        ) AS used) AS used_by
FROM ${schema}.secrets AS s
WHERE s.tenant_id = $1 AND s.hmac_secret_id > $2 AND cardinality(s.sealed) > 0
ORDER BY s.hmac_secret_id
LIMIT $3::int8`

export const pageTypes = ["text", "text", "text[]", "bool", "float8", "float8", "float8", "int4"] as const

/** In front of `removeSecret`: waits for those who hold the secret, so that what follows sees the destinations they opened. */
export const lockSecret = (schema: string) => `
SELECT 1 AS locked FROM ${schema}.secrets WHERE tenant_id = $1 AND hmac_secret_id = $2 FOR UPDATE`

export const removeSecret = (schema: string) => `
DELETE FROM ${schema}.secrets AS s
WHERE s.tenant_id = $1 AND s.hmac_secret_id = $2 AND NOT EXISTS (
  SELECT FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = $1 AND l.hmac_secret_id = $2 AND l.state <> 'closed'
)
RETURNING 1 AS removed`

export const usableSecret = (schema: string) => `
SELECT 1 AS usable FROM ${schema}.secrets AS s
WHERE s.tenant_id = $1 AND s.hmac_secret_id = $2 AND cardinality(s.sealed) > 0 AND ${secretUsableBy(schema, "s", "$3")}`
