// A temporary Postgres for checks, started on first use, with a database per caller.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fromSources, node, root } from "./workspace.mjs"

export function temporaryPostgres() {
  let started
  const start = async () => {
    const child = spawn(node, [...fromSources, join(root, "scripts/postgres-process.mjs")], { cwd: root, stdio: ["pipe", "pipe", "inherit"] })
    for await (const url of createInterface({ input: child.stdout })) return { child, url }
    throw new Error("The database did not start.")
  }
  return {
    /** @returns the URL of a new database, for a user without other rights */
    fresh: async () => {
      const { url } = await (started ??= start())
      const { default: pg } = await import("pg")
      const client = new pg.Client({ connectionString: url })
      const name = `check_${randomUUID().replaceAll("-", "").slice(0, 12)}`
      await client.connect()
      await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`)
      await client.query(`CREATE DATABASE ${name} OWNER ${name}`)
      await client.end()
      return Object.assign(new URL(url), { username: name, password: name, pathname: `/${name}` }).href
    },
    stop: async () => {
      if (started === undefined) return
      const { child } = await started
      const ended = new Promise((done) => child.once("exit", done))
      child.stdin.end()
      await ended
    }
  }
}
