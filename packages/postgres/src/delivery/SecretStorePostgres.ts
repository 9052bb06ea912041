/** Sealed signing secrets on Postgres. */
import { SecretStore, StorageError, type StoredSecret } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { byteaArray, textArray, timestamptzArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"

export const layer = Layer.effect(
  SecretStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    const columns = "sealed, signs_until, accounts, body_signature, (extract(epoch FROM now()) * 1000)::float8 AS now"
    const found = (statement: string, tenantId: string, hmacSecretId: string) =>
      sql.bulk(statement, [tenantId, hmacSecretId], ["bytea[]", "timestamptz[]", "text[]", "bool", "float8"]).pipe(
        Effect.map(([row]) =>
          row === undefined || (row[0] as ReadonlyArray<Uint8Array>).length === 0 ? Option.none<StoredSecret>() : Option.some(secretOf(row))
        )
      )

    return SecretStore.of({
      find: (tenantId, hmacSecretId) =>
        StorageError.refail("SecretStore.find")(
          found(`SELECT ${columns} FROM ${schema}.secrets WHERE tenant_id = $1 AND hmac_secret_id = $2`, tenantId, hmacSecretId)
        ),
      // a missing row cannot be locked: one without versions, which nobody takes for a secret, stands in until it is put
      findForUpdate: (tenantId, hmacSecretId) =>
        StorageError.refail("SecretStore.findForUpdate")(found(
          `INSERT INTO ${schema}.secrets AS s (tenant_id, hmac_secret_id, sealed, signs_until, accounts, body_signature)
           VALUES ($1, $2, '{}', '{}', '{}', false)
           ON CONFLICT (tenant_id, hmac_secret_id) DO UPDATE SET sealed = s.sealed
           RETURNING ${columns}`,
          tenantId,
          hmacSecretId
        )),
      put: (tenantId, hmacSecretId, secret) =>
        sql.bulk(
          `INSERT INTO ${schema}.secrets (tenant_id, hmac_secret_id, sealed, signs_until, accounts, body_signature)
           VALUES ($1, $2, $3::bytea[], $4::timestamptz[], $5::text[], $6)
           ON CONFLICT (tenant_id, hmac_secret_id) DO UPDATE
           SET sealed = EXCLUDED.sealed,
               signs_until = EXCLUDED.signs_until,
               accounts = EXCLUDED.accounts,
               body_signature = EXCLUDED.body_signature`,
          [
            tenantId,
            hmacSecretId,
            byteaArray(secret.versions.map((version) => version.sealed)),
            timestamptzArray(secret.versions.map((version) => version.signsUntil ?? null)),
            textArray(secret.accounts),
            secret.bodySignature
          ]
        ).pipe(Effect.asVoid, StorageError.refail("SecretStore.put"))
    })
  })
)

const secretOf = ([sealed, signsUntil, accounts, bodySignature, now]: ReadonlyArray<unknown>): StoredSecret => ({
  versions: liveVersions(sealed as ReadonlyArray<Uint8Array>, signsUntil as ReadonlyArray<number | null>, now as number),
  accounts: accounts as ReadonlyArray<string>,
  bodySignature: bodySignature as boolean
})

/** Versions that still sign, newest first. */
export const liveVersions = (sealed: ReadonlyArray<Uint8Array>, signsUntil: ReadonlyArray<number | null>, now: number) =>
  sealed.map((bytes, at) => ({ sealed: bytes, signsUntil: signsUntil[at] ?? undefined }))
    .filter((version) => version.signsUntil === undefined || version.signsUntil > now)
