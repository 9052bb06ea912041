/** The layers of the page "Waybill in an Effect program", held against the types. */
import type { Authenticator, StoragePorts, TransportPorts, Waybill } from "@waybill/core"
import type { AuthenticatorHost, AuthenticatorStandard, TransportHttp, WaybillHttp } from "@waybill/http"
import type { PgClient, SqlPgClient, StoragePostgres } from "@waybill/postgres"
import type { HostTransactions, KeptChanges, ScriptedReceivers, StorageCrash, StorageMemory, TestWaybill } from "@waybill/testkit"
import type { Layer } from "effect"
import type { HttpRouter } from "effect/http"
import type { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

/** The names that the page uses. */
interface Named {
  readonly Authenticator: Authenticator
  readonly HostTransactions: HostTransactions
  readonly HttpRouter: HttpRouter.HttpRouter
  readonly KeptChanges: KeptChanges
  readonly PgClient: PgClient.PgClientService
  readonly ScriptedReceivers: ScriptedReceivers
  readonly Services: Waybill.Services
  readonly SqlClient: SqlClient.SqlClient
  readonly StorageCrash: StorageCrash
  readonly "@effect/sql-pg/PgClient": SqlPgClient
  readonly StoragePorts: StoragePorts
  readonly TransportPorts: TransportPorts
}

type Name = keyof Named

type AnyLayer = Layer.Layer<never, unknown, unknown>

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? unknown : never) : never

type Within<A, B> = [A] extends [B] ? unknown : never

/** Type-checks that the layer provides exactly what is named, and needs nothing else than what is named. */
const layer = <L extends AnyLayer>() =>
<const P extends ReadonlyArray<Name>, const N extends ReadonlyArray<Name>>(
  provides: P & Same<Layer.Success<L>, Named[P[number]]>,
  needs: N & Within<Layer.Services<L>, Named[N[number]]>
) => ({ provides: [...provides as P], needs: [...needs as N] })

const layers: Readonly<Record<string, { readonly provides: ReadonlyArray<Name>; readonly needs: ReadonlyArray<Name> }>> = {
  "StoragePostgres.layerUrl(options)": layer<ReturnType<typeof StoragePostgres.layerUrl>>()(["StoragePorts", "PgClient", "SqlClient"], []),
  "StoragePostgres.layer(options)": layer<ReturnType<typeof StoragePostgres.layer>>()(["StoragePorts"], ["PgClient"]),
  "PgClient.layer(options)": layer<ReturnType<typeof PgClient.layer>>()(["PgClient", "SqlClient"], []),
  "PgClient.layerFromPool(pool)": layer<ReturnType<typeof PgClient.layerFromPool>>()(["PgClient", "SqlClient"], []),
  "PgClient.layerFromSqlPg": layer<typeof PgClient.layerFromSqlPg>()(["PgClient"], ["@effect/sql-pg/PgClient"]),
  "TransportHttp.layer(options)": layer<ReturnType<typeof TransportHttp.layer>>()(["TransportPorts"], []),
  "WaybillHttp.layer(options)": layer<ReturnType<typeof WaybillHttp.layer>>()([], ["HttpRouter", "Authenticator", "Services", "StoragePorts"]),
  "AuthenticatorStandard.layer(options)": layer<ReturnType<typeof AuthenticatorStandard.layer>>()(["Authenticator"], ["Services", "StoragePorts"]),
  "AuthenticatorHost.layer(authenticate)": layer<ReturnType<typeof AuthenticatorHost.layer>>()(["Authenticator"], ["StoragePorts"]),
  "StorageMemory.layer": layer<typeof StorageMemory.layer>()(["StoragePorts", "HostTransactions", "KeptChanges", "StorageCrash"], []),
  "TestWaybill.layer(options)": layer<ReturnType<typeof TestWaybill.layer>>()(
    ["Services", "StoragePorts", "TransportPorts", "ScriptedReceivers", "HostTransactions", "KeptChanges", "StorageCrash"],
    []
  )
}

/** Type-checks only: a missing part of the service is an error with its name. */
export const incomplete = (service: typeof Waybill.layer, storage: Layer.Layer<StoragePorts>, transport: Layer.Layer<TransportPorts>) => [
  // @ts-expect-error -- Property 'transport' is missing
  service({ storage }),
  // @ts-expect-error -- Property 'storage' is missing
  service({ transport }),
  // @ts-expect-error -- a transport is no storage
  service({ storage: transport, transport })
]

describe("the table of layers", () => {
  it("says what each layer provides and needs", () => {
    const page = readFileSync(new URL("../../../docs/effect.md", import.meta.url), "utf8")
    const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name)
    const rows = [...page.matchAll(/^\| `([^`]+)` \| (?:core|http|postgres|testkit) \|(.*)\|(.*)\|$/gm)]
      .filter(([, name]) => !name!.startsWith("Waybill.layer"))
      .map(([, name, provides, needs]) => [name, { provides: names(provides!), needs: names(needs!) }] as const)
    expect(Object.fromEntries(rows)).toEqual(layers)
  })
})
