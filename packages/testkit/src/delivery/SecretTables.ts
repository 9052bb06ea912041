/** Sealed signing secrets of all tenants. */
import { accountOfGrant, compareText } from "@waybill/core"
import { secretUsableBy, type StoredSecret } from "@waybill/core/delivery"
import { Context, Effect, Layer } from "effect"
import type { AccessRows } from "../access/AccessTables.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { TenantRows } from "../shared/TenantRows.ts"

export class SecretTables extends Context.Service<SecretTables, SecretRows>()("@waybill/testkit/delivery/SecretTables") {
  static readonly layer = Layer.effect(SecretTables, Effect.map(MemoryDatabase, (database) => new SecretRows(database, () => new Map())))
}

/** A tenant's secrets by their id. */
export class SecretRows extends TenantRows<Map<string, StoredSecret>> {
  /** What is stored, without versions whose time is over. */
  find(tenantId: string, hmacSecretId: string, now: number): StoredSecret | undefined {
    const stored = this.of(tenantId).get(hmacSecretId)
    if (stored === undefined) return undefined
    return { ...stored, versions: stored.versions.filter(({ signsUntil }) => signsUntil === undefined || signsUntil > now) }
  }

  /** In their order. */
  idsAfter(tenantId: string, after: string | undefined): ReadonlyArray<string> {
    return [...this.of(tenantId).keys()].filter((id) => after === undefined || compareText(id, after) > 0).sort(compareText)
  }
}

/** Whether the secret may sign for the client. */
export const isUsableBy = ({ owner }: StoredSecret, access: AccessRows, tenantId: string, client: string): boolean =>
  secretUsableBy(owner, { client, accounts: [...access.accountsOf(tenantId, client)].flatMap((held) => accountOfGrant(held) ?? []) })
