/** Chooses the directory and user of the embedded database. Postgres refuses to run as root. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chmod, chown, cp, mkdir, rename, rm, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { clauseOf } from "../ErrorMessage.ts"
import { type DataDirUnusable, readOrCreateText, readText } from "../config/DataDir.ts"
import { type Binaries, EmbeddedPostgresFailed } from "./Binaries.ts"

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

export interface Placement {
  /** Contains the cluster, and a copy of the binaries if the installed ones are not accessible. */
  readonly home: string
  readonly cluster: string
  /** `undefined`: the user of this process. */
  readonly account: Account | undefined
  readonly bin: string
}

/** Used when root's own directories are not accessible to others. */
const sharedHome = "/var/lib/waybill"

/** Chooses and prepares the directory. The choice stays, even if permissions of other directories change later. */
export const place = Effect.fnUntraced(function*(
  dataDir: string,
  binaries: Binaries
): Effect.fn.Return<Placement, EmbeddedPostgresFailed | DataDirUnusable> {
  const asRoot = process.getuid?.() === 0
  const known = yield* readText(dataDir, "postgres-home")
  const decided = known ?? (yield* Effect.flatMap(
    attempt(async () => !asRoot || await isOpenToAll(dataDir) ? "postgres" : join(sharedHome, randomUUID().slice(0, 8))),
    (home) => readOrCreateText(dataDir, "postgres-home", () => home)
  ))
  const home = resolve(dataDir, decided)
  return yield* attempt(async () => {
    await mkdir(home, { recursive: true, mode: 0o700 })
    const cluster = join(home, "data")
    if (!asRoot) return { home, cluster, account: undefined, bin: join(binaries.root, "bin") }
    for (const dir of new Set([dirname(home), home])) if (dir !== dataDir) await chmod(dir, 0o711)
    const account = await ownerOf(cluster) ?? await accountFor()
    return { home, cluster, account, bin: join(await reachable(binaries, home), "bin") }
  })
})

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresFailed> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new EmbeddedPostgresFailed({
        message: `There is no place for the embedded database: ${clauseOf(cause)}. Point WAYBILL_DATA_DIR somewhere else, or set WAYBILL_DATABASE_URL.`
      })
  })

/** Whether others may traverse every directory down to this one. */
const isOpenToAll = async (dir: string): Promise<boolean> =>
  ((await stat(dir)).mode & 0o001) !== 0 && (dirname(dir) === dir || await isOpenToAll(dirname(dir)))

/** An existing cluster of an ordinary user keeps that user. */
const ownerOf = async (cluster: string): Promise<Account | undefined> => {
  const found = await stat(cluster).catch(() => undefined)
  return found === undefined || found.uid === 0 ? undefined : { name: `user ${found.uid}`, uid: found.uid, gid: found.gid }
}

/** Uses an existing account; creates none. */
const accountFor = async (): Promise<Account> => {
  for (const name of ["postgres", "nobody"]) {
    const id = async (flag: string) => Number((await promisify(execFile)("id", [flag, name])).stdout)
    try {
      return { name, uid: await id("-u"), gid: await id("-g") }
    } catch {
      continue
    }
  }
  throw new Error("Postgres does not run as root, and this system has neither an account postgres nor nobody. Start Waybill as an ordinary user")
}

/** The installed binaries, or a copy that the other account can access. */
const reachable = async (binaries: Binaries, home: string): Promise<string> => {
  if (await isOpenToAll(binaries.root)) return binaries.root
  const copy = join(home, `postgres-${binaries.version}`)
  if (await stat(copy).then(() => true, () => false)) return copy
  const draft = `${copy}.${randomUUID()}`
  try {
    await cp(binaries.root, draft, { recursive: true, verbatimSymlinks: true })
    await rename(draft, copy)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return copy
}

/** Changes the owner of a path to the user of Postgres. */
export const handOver = async (path: string, account: Account | undefined): Promise<void> => {
  if (account !== undefined) await chown(path, account.uid, account.gid)
}
