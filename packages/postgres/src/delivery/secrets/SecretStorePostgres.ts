/** Sealed signing secrets on Postgres. */
import { clientOfSecret, type FoundSecret, type ListedSecret, maxCountedUses, type SecretOwner, SecretStore } from "@waybill/core/delivery"
import { Effect, Option } from "effect"
import { bool, type Decoded, text } from "../../client/SqlRow.ts"
import type { Statement } from "../../client/SqlStatement.ts"
import { readIsolation, seesCommitted } from "../../shared/Isolation.ts"
import { storeLayer } from "../../shared/StoreLayer.ts"
import * as statements from "./SecretSql.ts"

export const layer = storeLayer(SecretStore, ({ schema, sql }) => {
  const isThere = (statement: Statement) => Effect.map(sql.rows(bool, statement), (rows) => rows.length > 0)
  const seesSubscriptions = Effect.flatMap(sql.one(text, readIsolation), (level) => seesCommitted(level, "changes of a secret and new subscriptions with it"))

  return {
    find: Effect.fnUntraced(function*(tenantId, hmacSecretId, lock) {
      if (lock === "change") yield* sql.run(statements.lockSecretForPut(schema, tenantId, hmacSecretId))
      const [row] = yield* sql.rows(statements.secretRow, statements.findSecret(schema, tenantId, hmacSecretId, lock === "use" ? "FOR SHARE" : ""))
      const found = row === undefined || row.sealed.length === 0 ? Option.none() : Option.some(secretOf(row))
      // nobody subscribes with a secret that is not stored, unless it is the client's own
      if (lock === "change" && (Option.isSome(found) || clientOfSecret(hmacSecretId) !== undefined)) yield* seesSubscriptions
      return found
    }),
    put: (tenantId, hmacSecretId, secret) =>
      sql.withTransaction(Effect.andThen(
        sql.run(statements.putSecret(schema, tenantId, hmacSecretId, secret)),
        sql.run(statements.raiseSignedDestinations(schema, tenantId, hmacSecretId))
      )),
    page: (tenantId, { after = "", client, limit }) =>
      Effect.map(sql.rows(statements.listedRow, statements.pageSecrets(schema, tenantId, { after, client, limit, counted: maxCountedUses })), (rows) => rows.map(listedOf)),
    remove: (tenantId, hmacSecretId) =>
      sql.withTransaction(Effect.gen(function*() {
        if (!(yield* isThere(statements.lockSecret(schema, tenantId, hmacSecretId)))) return "unknown" as const
        yield* seesSubscriptions
        return (yield* isThere(statements.removeSecret(schema, tenantId, hmacSecretId))) ? "removed" as const : "used" as const
      })),
    usableBy: (tenantId, hmacSecretId, client) => isThere(statements.usableSecret(schema, tenantId, hmacSecretId, client))
  }
})

const secretOf = ({ accounts, anyClient, client, now, sealed, signsUntil, ...secret }: Decoded<typeof statements.secretRow>): FoundSecret => ({
  ...secret,
  now,
  versions: liveVersions(sealed, signsUntil, now),
  owner: ownerOf({ accounts, anyClient, client })
})

const listedOf = ({ accounts, anyClient, client, ...listed }: Decoded<typeof statements.listedRow>): ListedSecret => ({ ...listed, owner: ownerOf({ accounts, anyClient, client }) })

const ownerOf = ({ accounts, anyClient, client }: Pick<Decoded<typeof statements.secretRow>, "client" | "accounts" | "anyClient">): SecretOwner =>
  client !== undefined ? { _tag: "Client", client } : anyClient ? { _tag: "AnyClient" } : { _tag: "Accounts", accounts }

/** Versions that still sign, newest first. The first has no end. */
export const liveVersions = (sealed: ReadonlyArray<Uint8Array>, endsOfOthers: ReadonlyArray<number>, now: number) =>
  sealed.map((bytes, at) => ({ sealed: bytes, signsUntil: at === 0 ? undefined : endsOfOthers[at - 1] }))
    .filter((version) => version.signsUntil === undefined || version.signsUntil > now)
