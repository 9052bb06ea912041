/** A new database for the demo or a test: on the server of DATABASE_URL, or on a temporary Postgres. */
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { startEmbeddedPostgres } from "waybill"

export interface RunningDatabase {
  readonly url: string
  /** Removes the database. */
  readonly stop: () => Promise<void>
}

export const startDatabase = async (): Promise<RunningDatabase> => {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined) return newDatabase(given)
  const directory = await mkdtemp(join(tmpdir(), "carrier-tms-"))
  const { stop, url } = await startEmbeddedPostgres(directory)
  return {
    url,
    stop: async () => {
      await stop()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

const newDatabase = async (server: string): Promise<RunningDatabase> => {
  const name = `carrier_tms_${randomBytes(6).toString("hex")}`
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await run(`CREATE DATABASE ${name}`)
  return { url: Object.assign(new URL(server), { pathname: `/${name}` }).href, stop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) }
}
