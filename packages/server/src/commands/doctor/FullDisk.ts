/** Whether the disk of a directory is full. */
import { statfs } from "node:fs/promises"

/** What the check of the database writes, too. */
const leastBytes = 1024 * 1024

/** Says so; `undefined` while there is room. Some file systems do not count their files. */
export const fullDiskOf = async (directory: string): Promise<string | undefined> => {
  const { bavail, bsize, ffree, files } = await statfs(directory)
  if (bavail * bsize < leastBytes) return `the disk of ${directory} is full`
  return files > 0 && ffree === 0 ? `the disk of ${directory} has no room for another file` : undefined
}
