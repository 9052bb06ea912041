/** Refuses a database that a host left out, such as by a variable that is not set, or wrote in another form. */
import type pg from "pg"
import { isPool } from "./PgHost.ts"

export interface HostDatabase {
  readonly pool?: pg.Pool | undefined
  readonly url?: string | undefined
}

/** Throws a `TypeError` that names the function `of`. */
export const checkDatabase = (of: string, { pool, url }: HostDatabase): void => {
  if ((pool === undefined) === (url === undefined)) {
    throw new TypeError(`${of} needs either a pool or a url, and got ${pool === undefined ? "neither" : "both"}.`)
  }
  if (url !== undefined) checkAddress(of, "url", url)
  if (pool !== undefined && !isPool(pool)) throw new TypeError(`${of} needs a pool of pg: new pg.Pool({ connectionString }).`)
}

/** What is not an address, such as one without a scheme, would fail later with an error about a missing user. A socket is a path. */
export const checkAddress = (of: string, name: string, address: string): void => {
  if (/^(socket:|\/)/.test(address) || /^postgres(ql)?:$/.test(URL.parse(address)?.protocol ?? "")) return
  throw new TypeError(
    `${name} of ${of} is not a Postgres address. Write it as postgres://user:password@host:5432/database, with special characters of the password percent-encoded.`
  )
}
