/** Signing secrets in memory, sealed as in every storage. */
import { maxCountedUses, type SecretOwner, SecretStore } from "@waybill/core/delivery"
import { Option } from "effect"
import { AccessTables } from "../access/AccessTables.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { DestinationTables } from "./DestinationTables.ts"
import { isUsableBy, SecretTables } from "./SecretTables.ts"

export const layer = storeLayer(SecretStore, { rows: SecretTables, destinations: DestinationTables, access: AccessTables }, ({ access, destinations, journal, operate, rows }) => {
  const signed = (tenantId: string, hmacSecretId: string) =>
    [...destinations.of(tenantId).destinations.values()].filter(({ settings }) => settings.hmacSecretId === hmacSecretId)
  const usesOf = (tenantId: string, hmacSecretId: string) => signed(tenantId, hmacSecretId).length

  return {
    find: (tenantId, hmacSecretId) => operate((now) => Option.map(Option.fromUndefinedOr(rows.find(tenantId, hmacSecretId, now)), (secret) => ({ ...secret, now }))),
    put: (tenantId, hmacSecretId, secret) =>
      operate(() => {
        journal.put(rows.of(tenantId), hmacSecretId, secret)
        for (const destination of signed(tenantId, hmacSecretId)) {
          destinations.raiseVersion(destination)
          destinations.signal(destination, undefined)
        }
      }),
    page: (tenantId, { after, client, limit }) =>
      operate((now) =>
        rows.idsAfter(tenantId, after).filter((hmacSecretId) => client === undefined || isOf(client, rows.find(tenantId, hmacSecretId, now)!.owner)).slice(0, limit).map((hmacSecretId) => {
          const { createdAt, owner, rotatedAt, versions } = rows.find(tenantId, hmacSecretId, now)!
          const signsUntil = versions.reduce<number | undefined>((last, each) => each.signsUntil === undefined ? last : Math.max(last ?? 0, each.signsUntil), undefined)
          return { hmacSecretId, owner, createdAt, rotatedAt, signsUntil, usedBy: Math.min(usesOf(tenantId, hmacSecretId), maxCountedUses) }
        })
      ),
    remove: (tenantId, hmacSecretId) =>
      operate(() => {
        if (!rows.of(tenantId).has(hmacSecretId)) return "unknown"
        if (usesOf(tenantId, hmacSecretId) > 0) return "used"
        journal.drop(rows.of(tenantId), hmacSecretId)
        return "removed"
      }),
    usableBy: (tenantId, hmacSecretId, client) =>
      operate(() => {
        const stored = rows.of(tenantId).get(hmacSecretId)
        return stored !== undefined && isUsableBy(stored, access, tenantId, client)
      })
  }
})

const isOf = (client: string, owner: SecretOwner): boolean => owner._tag === "Client" && owner.client === client
