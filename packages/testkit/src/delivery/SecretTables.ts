/** Sealed signing secrets of all tenants. */
import type { StoredSecret } from "@waybill/core"
import { Context, Layer } from "effect"

const nameOf = (tenantId: string, hmacSecretId: string): string => `${tenantId}\n${hmacSecretId}`

export class SecretTables extends Context.Service<SecretTables, SecretRows>()("@waybill/testkit/delivery/SecretTables") {
  static readonly layer = Layer.sync(SecretTables, () => new SecretRows())
}

export class SecretRows {
  readonly secrets = new Map<string, StoredSecret>()

  readonly nameOf = nameOf

  /** What is stored, without versions whose time is over. */
  find(tenantId: string, hmacSecretId: string, now: number): StoredSecret | undefined {
    const stored = this.secrets.get(nameOf(tenantId, hmacSecretId))
    if (stored === undefined) return undefined
    return { ...stored, versions: stored.versions.filter(({ signsUntil }) => signsUntil === undefined || signsUntil > now) }
  }
}
