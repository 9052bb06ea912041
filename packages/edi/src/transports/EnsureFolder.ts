/** Creates folders. */
import { mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"

/** With those above it. `mkdir` with `recursive` never ends where an existing directory answers ENOENT, such as /proc. */
export const ensureFolder = async (path: string): Promise<void> => {
  if (await isFolder(path)) return
  if (dirname(path) !== path) await ensureFolder(dirname(path))
  await mkdir(path).catch(async (error: unknown) => {
    // another process was faster
    if (!(await isFolder(path))) throw error
  })
}

const isFolder = (path: string): Promise<boolean> => stat(path).then((file) => file.isDirectory(), () => false)
