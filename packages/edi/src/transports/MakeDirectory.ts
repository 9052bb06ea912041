/** Creates directories. */
import { mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"

/**
 * Creates a directory and those above it. Node's `mkdir` with `recursive` never ends where an existing directory takes no others and answers ENOENT,
 * such as /proc. True if the directory was created.
 */
export const makeDirectory = async (path: string, mode?: number): Promise<boolean> => {
  if (await isDirectory(path)) return false
  if (dirname(path) !== path) await makeDirectory(dirname(path), mode)
  try {
    await mkdir(path, { mode })
    return true
  } catch (error) {
    // another process was faster
    if (await isDirectory(path)) return false
    throw error
  }
}

const isDirectory = (path: string): Promise<boolean> => stat(path).then((file) => file.isDirectory(), () => false)
