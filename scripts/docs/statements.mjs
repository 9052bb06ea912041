// Sends blocks of SQL marked `runs` to a migrated database.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import pg from "pg"
import { fromSources, node, root } from "../workspace.mjs"
import { isRun, placeOf } from "./pages.mjs"

/** @returns how many blocks were sent, and which ones Postgres refused */
export const runStatements = async (pages, databaseUrl) => {
  const blocks = pages.flatMap((page) => page.blocks).filter(({ how, language }) => language === "sql" && isRun(how))
  if (blocks.length === 0) return { sent: 0, faults: [] }
  const url = await databaseUrl()
  await migrated(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const faults = []
  for (const block of blocks) await client.query(block.code).catch((error) => faults.push(`${placeOf(block)}: ${error.message}`))
  await client.end()
  return { sent: blocks.length, faults }
}

const migrated = async (url) => {
  const program = spawn(node, [...fromSources, join(root, "packages/server/src/main.ts"), "migrate"], {
    env: { ...process.env, WAYBILL_DATABASE_URL: url, WAYBILL_SCHEMA: "waybill" },
    stdio: ["ignore", "ignore", "inherit"]
  })
  const [code] = await once(program, "exit")
  if (code !== 0) throw new Error(`waybill migrate ended with ${code}.`)
}
