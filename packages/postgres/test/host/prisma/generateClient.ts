/** Generates Prisma's client before any test, once a run. */
import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

export default async function setup(): Promise<void> {
  const manifest = createRequire(import.meta.url).resolve("prisma/package.json")
  const { bin } = createRequire(import.meta.url)(manifest) as { readonly bin: { readonly prisma: string } }
  await promisify(execFile)(process.execPath, [join(dirname(manifest), bin.prisma), "generate"], {
    cwd: dirname(fileURLToPath(import.meta.url)),
    env: {
      ...process.env,
      // the client brings its own query compiler; the engine for migrations would be downloaded, and generating needs none
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1"
    }
  })
}
