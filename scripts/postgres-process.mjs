// A temporary Postgres: prints the URL of its superuser, and is removed when its standard input ends.
import { startEmbeddedPostgres } from "waybill"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const directory = join(tmpdir(), `waybill-check-${process.pid}`)
const database = await startEmbeddedPostgres(directory)
console.log(database.url)
process.stdin.resume().on("close", async () => {
  await database.stop()
  await rm(directory, { recursive: true, force: true })
  process.exit(0)
})
