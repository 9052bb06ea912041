/** Sealed signing secrets on Postgres. */
import { maxCountedUses, type ListedSecret, type SecretOwner, SecretStore, StorageError, type StoredSecret } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { byteaArray, textArray, timestamptzArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import {
  findSecret,
  findSecretForUpdate,
  findSecretForUse,
  lockSecret,
  pageSecrets,
  pageTypes,
  putSecret,
  removeSecret,
  secretTypes,
  usableSecret
} from "./SecretSql.ts"

export const layer = Layer.effect(
  SecretStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    const found = (statement: string) => (tenantId: string, hmacSecretId: string) =>
      Effect.map(sql.bulk(statement, [tenantId, hmacSecretId], secretTypes), ([row]) =>
        row === undefined || (row[0] as ReadonlyArray<Uint8Array>).length === 0 ? Option.none<StoredSecret>() : Option.some(secretOf(row)))
    const find = found(findSecret(schema))
    const findForUse = found(findSecretForUse(schema))
    const findForUpdate = found(findSecretForUpdate(schema))

    return SecretStore.of({
      find: (tenantId, hmacSecretId) => StorageError.refail("SecretStore.find")(find(tenantId, hmacSecretId)),
      findForUse: (tenantId, hmacSecretId) => StorageError.refail("SecretStore.findForUse")(findForUse(tenantId, hmacSecretId)),
      findForUpdate: (tenantId, hmacSecretId) => StorageError.refail("SecretStore.findForUpdate")(findForUpdate(tenantId, hmacSecretId)),

      put: (tenantId, hmacSecretId, { bodySignature, createdAt, owner, rotatedAt, versions }) =>
        sql.bulk(putSecret(schema), [
          tenantId,
          hmacSecretId,
          byteaArray(versions.map((version) => version.sealed)),
          timestamptzArray(versions.map((version) => version.signsUntil ?? null)),
          owner._tag === "Client" ? owner.client : null,
          textArray(owner._tag === "Accounts" ? owner.accounts : []),
          owner._tag === "AnyClient",
          bodySignature,
          timestamptzArray([createdAt, rotatedAt ?? null])
        ]).pipe(Effect.asVoid, StorageError.refail("SecretStore.put")),

      page: (tenantId, { after, limit }) =>
        sql.bulk(pageSecrets(schema), [tenantId, after ?? "", limit, maxCountedUses], pageTypes).pipe(
          Effect.map((rows) => rows.map(listedOf)),
          StorageError.refail("SecretStore.page")
        ),

      remove: (tenantId, hmacSecretId) =>
        sql.withTransaction(Effect.gen(function*() {
          const locked = yield* sql.bulk(lockSecret(schema), [tenantId, hmacSecretId])
          if (locked.length === 0) return "unknown" as const
          const removed = yield* sql.bulk(removeSecret(schema), [tenantId, hmacSecretId])
          return removed.length === 0 ? "used" as const : "removed" as const
        })).pipe(StorageError.refail("SecretStore.remove")),

      usableBy: (tenantId, hmacSecretId, client) =>
        sql.bulk(usableSecret(schema), [tenantId, hmacSecretId, client]).pipe(
          Effect.map((rows) => rows.length > 0),
          StorageError.refail("SecretStore.usableBy")
        )
    })
  })
)

const instant = (millis: unknown): number | undefined => millis === null ? undefined : Math.round(millis as number)

const secretOf = (row: ReadonlyArray<unknown>): StoredSecret => {
  const [sealed, signsUntil, client, accounts, anyClient, bodySignature, created, rotated, now] = row
  return {
    versions: liveVersions(sealed as ReadonlyArray<Uint8Array>, signsUntil as ReadonlyArray<number | null>, now as number),
    owner: ownerOf(client, accounts, anyClient),
    bodySignature: bodySignature as boolean,
    createdAt: instant(created)!,
    rotatedAt: instant(rotated)
  }
}

const listedOf = ([id, client, accounts, anyClient, created, rotated, until, usedBy]: ReadonlyArray<unknown>): ListedSecret => ({
  hmacSecretId: id as string,
  owner: ownerOf(client, accounts, anyClient),
  createdAt: instant(created)!,
  rotatedAt: instant(rotated),
  signsUntil: instant(until),
  usedBy: usedBy as number
})

const ownerOf = (client: unknown, accounts: unknown, anyClient: unknown): SecretOwner =>
  client !== null
    ? { _tag: "Client", client: client as string }
    : anyClient === true ? { _tag: "AnyClient" } : { _tag: "Accounts", accounts: accounts as ReadonlyArray<string> }

/** Versions that still sign, newest first. */
export const liveVersions = (sealed: ReadonlyArray<Uint8Array>, signsUntil: ReadonlyArray<number | null>, now: number) =>
  sealed.map((bytes, at) => ({ sealed: bytes, signsUntil: signsUntil[at] ?? undefined }))
    .filter((version) => version.signsUntil === undefined || version.signsUntil > now)
