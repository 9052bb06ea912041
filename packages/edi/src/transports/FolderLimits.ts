/** Limits of a partner's directory: how many files wait in it, and how long files stay that were read or sent. */
import { lstat, opendir, rm } from "node:fs/promises"
import { join } from "node:path"
import { isUnfinished } from "./EdiMailbox.ts"
import { ignoreMissing } from "./FileErrors.ts"

/** Folders whose files are only kept to look them up. */
const keptFolders = ["done", "failed", "sent"]

/** Folders with hidden files of processes that ended while they wrote. */
const writtenFolders = ["outbox", "posted"]

const isLeft = (name: string): boolean => /^\..+\.[0-9a-f-]{36}\.tmp$/u.test(name)

/** Whether this many files wait in the folder. It is not read further. */
export const isFull = async (directory: string, folder: "inbox" | "outbox", limit: number): Promise<boolean> => {
  let count = 0
  for await (const entry of entriesIn(join(directory, folder))) {
    if (!entry.isFile() || isUnfinished(entry.name)) continue
    count += 1
    if (count >= limit) return true
  }
  return false
}

/** Removes files that were read or sent before this time, with their reports, and what ended processes left. Returns their number. */
export const removeKept = async (directory: string, before: number): Promise<number> => {
  let removed = 0
  for (const folder of [...keptFolders, ...writtenFolders]) {
    for await (const entry of entriesIn(join(directory, folder))) {
      if (writtenFolders.includes(folder) && !isLeft(entry.name)) continue
      const path = join(directory, folder, entry.name)
      // when it was renamed into the folder; writers may set the other time
      const file = entry.isFile() ? await lstat(path).catch(ignoreMissing) : undefined
      if (file === undefined || file.ctimeMs >= before) continue
      await rm(path, { force: true })
      removed += 1
    }
  }
  return removed
}

/** A folder is created with its first file. */
async function* entriesIn(path: string) {
  const folder = await opendir(path).catch(ignoreMissing)
  if (folder !== undefined) yield* folder
}
