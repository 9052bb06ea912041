/** A database of its own for one test file. */
import { randomUUID } from "node:crypto"
import pg from "pg"
import { seenTableSql } from "../../src/receiver/index.ts"

export class SeenDatabase {
  readonly url: string
  readonly pool: pg.Pool
  readonly #drop: () => Promise<void>
  #tables = 0

  private constructor(url: string, pool: pg.Pool, drop: () => Promise<void>) {
    this.url = url
    this.pool = pool
    this.#drop = drop
  }

  static async open(serverUrl: string): Promise<SeenDatabase> {
    const admin = new pg.Client({ connectionString: serverUrl })
    await admin.connect()
    const name = `client_${randomUUID().replaceAll("-", "").slice(0, 12)}`
    await admin.query(`CREATE DATABASE ${name}`)
    const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
    const pool = new pg.Pool({ connectionString: url, max: 20 })
    // Tests end connections on purpose.
    pool.on("error", () => {})
    return new SeenDatabase(url, pool, async () => {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.end()
    })
  }

  async close(): Promise<void> {
    await this.pool.end()
    await this.#drop()
  }

  /** Creates an empty table of handled ids. */
  async table(): Promise<string> {
    const name = `seen_${++this.#tables}`
    await this.pool.query(seenTableSql(name))
    return name
  }

  /** Lets time pass: everything in the table was written that much earlier. */
  async advance(table: string, millis: number): Promise<void> {
    await this.pool.query(`UPDATE ${table} SET claimed_at = claimed_at - $1 * interval '1 millisecond', expires_at = expires_at - $1 * interval '1 millisecond'`, [millis])
  }
}
