/** The embedded Postgres in the data directory: created at the first start, kept afterwards. */
import { Effect, Redacted, Ref, type Scope } from "effect"
import { execFile } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { clauseOf } from "../ErrorMessage.ts"
import { type DataDirUnusable, lockDataDir, makeDataDir, readOrCreateText, readText, writeText } from "../config/DataDir.ts"
import { EmbeddedPostgresFailed, findBinaries } from "./Binaries.ts"
import { handOver, place, type Placement } from "./Placement.ts"
import { freePort, PortInUse, type Postmaster, startPostmaster, stopLeftover } from "./Postmaster.ts"

const user = "waybill"
const database = "postgres"

/**
 * Runs the database until the scope ends: on the loopback interface only, with a password that stays in the data
 * directory, and with synchronous commits.
 */
export const runEmbeddedPostgres = Effect.fnUntraced(function*(
  dataDir: string
): Effect.fn.Return<Redacted.Redacted, EmbeddedPostgresFailed | DataDirUnusable, Scope.Scope> {
  if (process.platform === "win32") {
    return yield* new EmbeddedPostgresFailed({
      message: "The embedded Postgres does not run on Windows itself. Use WSL, or set WAYBILL_DATABASE_URL."
    })
  }
  yield* makeDataDir(dataDir)
  yield* lockDataDir(dataDir)
  const binaries = yield* findBinaries
  const placement = yield* place(dataDir, binaries)
  const { cluster, home } = placement
  if (!home.startsWith(dataDir)) {
    yield* Effect.logWarning(
      `The embedded database is in ${home}: it runs as ${placement.account?.name}, because Postgres refuses to run as root, and only root can access ${dataDir}.`
    )
  }
  const password = yield* readOrCreateText(home, "password", () => randomBytes(24).toString("hex"))
  const leftOver = yield* tryStep("An earlier Postgres could not be stopped", () => stopLeftover(cluster))
  if (leftOver === "stopped") yield* Effect.logWarning("Embedded Postgres of an earlier process stopped.")
  yield* createCluster(placement, password, binaries.version)

  const running = yield* Effect.acquireRelease(
    Effect.flatMap(start(placement), (started) => Ref.make(started)),
    (running) => Effect.flatMap(Ref.get(running), ({ postmaster }) => Effect.promise(() => postmaster.stop()))
  )
  yield* Effect.forkScoped(keepRunning(placement, running))
  const { port } = yield* Ref.get(running)
  yield* Effect.logInfo("Embedded Postgres started.").pipe(
    Effect.annotateLogs({ directory: cluster, port, ...(placement.account === undefined ? {} : { runsAs: placement.account.name }) })
  )
  return addressOf(password, port)
})

const addressOf = (password: string, port: number | string): Redacted.Redacted => Redacted.make(`postgres://${user}:${password}@127.0.0.1:${port}/${database}`)

/** The URL it runs on, or ran on last; `undefined` if it never existed. */
export const lastAddress = Effect.fnUntraced(function*(dataDir: string): Effect.fn.Return<Redacted.Redacted | undefined, DataDirUnusable> {
  const savedHome = yield* readText(dataDir, "postgres-home")
  if (savedHome === undefined) return undefined
  const home = resolve(dataDir, savedHome)
  const password = yield* readText(home, "password")
  const port = yield* readText(home, "port")
  return password === undefined || port === undefined ? undefined : addressOf(password, port)
})

interface Started {
  readonly postmaster: Postmaster
  readonly port: number
}

/** Uses the previous port if it is free, so that the operator's tools find it again. */
const start = Effect.fnUntraced(function*(placement: Placement): Effect.fn.Return<Started, EmbeddedPostgresFailed | DataDirUnusable> {
  const last = Number(yield* readText(placement.home, "port"))
  let port = last > 0 ? last : yield* freePort
  for (let attempt = 1;; attempt++) {
    const wanted = port
    const result = yield* tryStep("The embedded Postgres did not start", () =>
      startPostmaster(placement, wanted).catch((error: unknown) => {
        if (error instanceof PortInUse && attempt < 5) return undefined
        throw error
      }))
    if (result !== undefined) {
      if (port !== last) yield* writeText(placement.home, "port", String(port))
      return { postmaster: result, port }
    }
    port = yield* freePort
  }
})

/** About a line in a minute. */
const attemptsPerLine = 60

/** Restarts Postgres when it exits unexpectedly. It keeps its port, because the connection pool has this port. */
const keepRunning = (placement: Placement, running: Ref.Ref<Started>): Effect.Effect<never> =>
  Effect.forever(Effect.gen(function*() {
    const { port, postmaster } = yield* Ref.get(running)
    yield* Effect.promise(() => postmaster.exited)
    yield* Effect.logError("Embedded Postgres exited, restarting.")
    for (let attempts = 0;; attempts++) {
      // Uninterruptible, because an interruption would leave a running Postgres behind.
      const attempt = tryStep("The embedded Postgres did not start", () => startPostmaster(placement, port)).pipe(
        Effect.flatMap((postmaster) => Ref.set(running, { postmaster, port })),
        Effect.uninterruptible
      )
      const failure = yield* Effect.match(attempt, { onSuccess: () => undefined, onFailure: (error) => error })
      if (failure === undefined) break
      if (attempts % attemptsPerLine === 0) yield* Effect.logError("Embedded Postgres not restarted, retrying every second.", failure)
      yield* Effect.sleep(1_000)
    }
  }))

/** Creates the cluster under a temporary name and renames it, so that a partial cluster never exists. */
const createCluster = Effect.fnUntraced(function*(placement: Placement, password: string, version: string) {
  const { account, bin, cluster, home } = placement
  const found = yield* tryStep("The embedded database cannot be read", async () =>
    (await stat(cluster).catch(() => undefined)) === undefined ? undefined : (await readFile(join(cluster, "PG_VERSION"), "utf8")).trim())
  const major = version.split(".")[0]!
  if (found !== undefined) {
    if (found === major) return
    return yield* new EmbeddedPostgresFailed({
      message:
        `The database in ${cluster} was created by Postgres ${found}, and this version of Waybill has Postgres ${major}. Dump it with the previous version and restore it with this one, or point WAYBILL_DATA_DIR at a new directory.`
    })
  }
  yield* Effect.logInfo("Embedded Postgres: creating the data directory.")
  yield* tryStep("The embedded database could not be created", async () => {
    for (const name of await readdir(home)) if (name.startsWith("draft-")) await rm(join(home, name), { recursive: true, force: true })
    const draft = join(home, `draft-${randomUUID()}`)
    const passwordFile = join(draft, "password")
    const data = join(draft, "data")
    await mkdir(draft, { mode: 0o700 })
    await mkdir(data, { mode: 0o700 })
    await writeFile(passwordFile, password, { mode: 0o600 })
    for (const path of [draft, data, passwordFile]) await handOver(path, account)
    await promisify(execFile)(join(bin, "initdb"), [
      `--pgdata=${data}`,
      `--username=${user}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8"
    ], {
      cwd: draft,
      env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C", TZ: "UTC" },
      ...(account === undefined ? {} : { uid: account.uid, gid: account.gid })
    })
    await rename(data, cluster)
    await rm(draft, { recursive: true, force: true })
  })
})

/** Why a program of Postgres failed: the message of its error is its long command line, followed by all that it printed. */
const reasonOfProgram = (cause: unknown): string | undefined => {
  const { code, signal, stderr } = cause as { readonly code?: unknown; readonly signal?: unknown; readonly stderr?: unknown }
  if (typeof stderr !== "string") return undefined
  const line = stderr.split("\n").find((line) => /FATAL|PANIC|error|could not/.test(line))
  return line === undefined ? `the program ended with ${signal ?? code}` : line.replace(/^.*(?:FATAL|PANIC|error): +/, "").trim()
}

const tryStep = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresFailed> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => {
      const reason = reasonOfProgram(cause) ?? clauseOf(cause).trim()
      return new EmbeddedPostgresFailed({ message: `${what}: ${reason}.${/No space left/.test(reason) ? " The disk is full: free space on it." : ""}` })
    }
  })
