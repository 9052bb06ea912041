/** The data directory: generated keys, the embedded database, and the demo's state. */
import { makeDirectory } from "@waybill/edi/transports"
import { type OperatorKey, parseOperatorKeys } from "@waybill/http"
import { Effect, Redacted, Result, Schema, type Scope } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { chmod, link, open, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { clauseOf } from "../ErrorMessage.ts"
import type { ServerConfig } from "./ServerConfig.ts"
import type { SealingKeys } from "./Variables.ts"

export class DataDirUnusable extends Schema.TaggedError<DataDirUnusable>()("DataDirUnusable", { message: Schema.String }) {}

const unusable = (dir: string, what: string) => (cause: unknown) =>
  new DataDirUnusable({
    message: `${what} in ${dir}: ${clauseOf(cause)}. ${hintOf(dir, cause)}`
  })

const noneNeeded = "With WAYBILL_DATABASE_URL, WAYBILL_OPERATOR_KEY and WAYBILL_SEALING_KEY set, no data directory is needed."

/** What to do about an error of the data directory. */
export const hintOf = (dir: string, cause: unknown): string => {
  switch (reasonOf(cause)) {
    case "read-only":
      return `The file system is read-only: mount a writable volume at ${dir}, or point WAYBILL_DATA_DIR at one. ${noneNeeded}`
    case "full":
      return "The disk is full: free space on it."
    case "permission":
      return `User ${process.getuid?.() ?? "of this process"} may not write there: make it the owner (chown), or point WAYBILL_DATA_DIR at a directory that it may write to. ${noneNeeded}`
    default:
      return "Point WAYBILL_DATA_DIR at a directory that this user may write to."
  }
}

/** Of a file system error, or of SQLite, which takes the lock: 8 is a read-only database, 14 one that cannot be opened. */
const reasonOf = (cause: unknown): "read-only" | "full" | "permission" | undefined => {
  const { code, errcode } = (cause ?? {}) as { readonly code?: unknown; readonly errcode?: unknown }
  if (code === "EROFS" || errcode === 8) return "read-only"
  if (code === "ENOSPC" || code === "EDQUOT") return "full"
  return code === "EACCES" || code === "EPERM" || errcode === 14 ? "permission" : undefined
}

const attempt = <A>(dir: string, what: string, run: () => Promise<A>): Effect.Effect<A, DataDirUnusable> =>
  Effect.tryPromise({ try: run, catch: unusable(dir, what) })

/**
 * Creates the directory. Only the owner may list it. As root, others may traverse it, because the embedded database
 * then runs as another user.
 */
export const makeDataDir = (dir: string): Effect.Effect<void, DataDirUnusable> =>
  attempt(dir, "The data directory could not be created", async () => {
    const made = await makeDirectory(dir, 0o700)
    if (made && process.getuid?.() === 0) await chmod(dir, 0o711)
  })

/**
 * Allows one process at a time. The lock is an operating system lock, held through SQLite: it ends with the process in
 * any case, and does not depend on process ids.
 */
export const lockDataDir = (dir: string): Effect.Effect<void, DataDirUnusable, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.try({
      try: () => {
        const lock = new DatabaseSync(join(dir, "lock"))
        try {
          lock.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
          return lock
        } catch (error) {
          lock.close()
          throw error
        }
      },
      catch: (cause) =>
        isBusy(cause)
          ? new DataDirUnusable({
            message:
              `Another Waybill runs on the embedded database in ${dir}. Stop it, give this one a WAYBILL_DATA_DIR of its own, or run both on one database with WAYBILL_DATABASE_URL.`
          })
          : unusable(dir, "The lock could not be taken")(cause)
    }),
    (lock) => Effect.sync(() => lock.close())
  ))

/** SQLITE_BUSY */
const isBusy = (cause: unknown): boolean => (cause as { readonly errcode?: unknown } | null)?.errcode === 5

/**
 * Reads a file of the data directory; `make` provides its initial text. When several processes start at once, one
 * writes the file and all read it.
 */
export const readOrCreateText = (dir: string, name: string, make: () => string): Effect.Effect<string, DataDirUnusable> =>
  attempt(dir, `${name} could not be read or created`, async () => {
    const path = join(dir, name)
    const found = await textIn(path)
    if (found !== undefined) return found
    const draft = await writeDraft(path, make())
    try {
      await link(draft, path)
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error
    } finally {
      await rm(draft, { force: true })
    }
    return await readFile(path, "utf8").then((text) => text.trim())
  })

/** Replaces a file of the data directory atomically: readers see the old or the new text. */
export const writeText = (dir: string, name: string, text: string): Effect.Effect<void, DataDirUnusable> =>
  attempt(dir, `${name} could not be written`, async () => {
    const path = join(dir, name)
    await rename(await writeDraft(path, text), path)
  })

export const readText = (dir: string, name: string): Effect.Effect<string | undefined, DataDirUnusable> =>
  attempt(dir, `${name} could not be read`, () => textIn(join(dir, name)))

const textIn = async (path: string): Promise<string | undefined> => {
  try {
    return (await readFile(path, "utf8")).trim()
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}

/** Writes a temporary file that only its owner can read, and flushes it to disk before it is renamed. */
const writeDraft = async (path: string, text: string): Promise<string> => {
  const draft = `${path}.${randomUUID()}`
  const file = await open(draft, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600)
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return draft
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code

export interface Keys {
  readonly operators: ReadonlyArray<OperatorKey>
  readonly sealing: SealingKeys
}

export const operatorKeyFile = "operator-key"
const sealingKeyFile = "sealing-key"

/** The configured keys, or those of the data directory, which are generated if absent. */
export const keysOf = Effect.fnUntraced(function*(config: Pick<ServerConfig, "dataDir" | "operatorKeys" | "sealingKeys">) {
  const { dataDir } = config
  if (config.operatorKeys === undefined || config.sealingKeys === undefined) yield* makeDataDir(dataDir)
  const operators = config.operatorKeys ??
    (yield* Effect.flatMap(readOrCreateText(dataDir, operatorKeyFile, () => randomBytes(32).toString("hex")), (text) => readOperatorKeys(dataDir, text)))
  const sealing = config.sealingKeys ??
    (yield* Effect.flatMap(readOrCreateText(dataDir, sealingKeyFile, () => randomBytes(32).toString("base64")), (text) => readSealingKey(dataDir, text)))
  const keys: Keys = { operators, sealing }
  return keys
})

const readOperatorKeys = (dir: string, text: string): Effect.Effect<ReadonlyArray<OperatorKey>, DataDirUnusable> =>
  Result.match(parseOperatorKeys(text), {
    onSuccess: Effect.succeed,
    onFailure: (problem) => Effect.fail(new DataDirUnusable({ message: `${join(dir, operatorKeyFile)} ${problem}. Without the file, the next start generates a key.` }))
  })

const readSealingKey = (dir: string, text: string): Effect.Effect<SealingKeys, DataDirUnusable> => {
  const bytes = Buffer.from(text, "base64")
  return bytes.length === 32
    ? Effect.succeed([Redacted.make(new Uint8Array(bytes))])
    : Effect.fail(new DataDirUnusable({
      message: `${join(dir, sealingKeyFile)} is not the base64 text of 32 bytes. Restore it: without it stored webhook secrets cannot be opened. If there are none, remove the file.`
    }))
}
