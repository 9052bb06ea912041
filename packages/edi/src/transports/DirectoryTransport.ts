/**
 * Files in a directory: `inbox` has what the partner sends, `outbox` what goes to the partner, `done` and `failed` what was read, each with its
 * report. Where files also go to and from a mailbox of the partner, `sending` has what is on its way, and `sent` what arrived. Any number of processes
 * may use it.
 */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import { constants, type Dirent, type Stats } from "node:fs"
import { lstat, lutimes, open, opendir, readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { randomUUID } from "node:crypto"
import { isUnfinished } from "./EdiMailbox.ts"
import type { EdiSpool } from "./EdiSpool.ts"
import type { EdiTransport } from "./EdiTransport.ts"
import { claimNumbers } from "./ControlNumbers.ts"
import { codeOf, FileNotRead, ignoreMissing } from "./FileErrors.ts"
import { firstSkipped, type SkippedEntry, type OnSkipped } from "./SkippedEntry.ts"
import { makeDirectory } from "./MakeDirectory.ts"

/** Folders of a directory, and when a file in it is complete. */
export interface DirectoryOptions {
  /** How long a file has to be unchanged before it is read, because its writer may still be writing. Default 2,000. */
  readonly quietMillis?: number | undefined
  readonly now?: (() => number) | undefined
  /** Folder of the files to read. Default `inbox`. */
  readonly inbox?: string | undefined
  /** Most entries of a folder that one call reads. Files that are read or sent make room for others. Default 10,000. */
  readonly maxEntries?: number | undefined
  /** Entries of the inbox that are never read. Those that are not complete are not among them. */
  readonly onSkipped?: OnSkipped | undefined
}

const kinds: OptionKinds<DirectoryOptions> = {
  quietMillis: optionKinds.period,
  now: optionKinds.function,
  inbox: optionKinds.text,
  maxEntries: optionKinds.count,
  onSkipped: optionKinds.function
}

const kindOf = (entry: Dirent): string =>
  entry.isDirectory()
    ? "It is a directory. Put its files into the inbox itself, and move it away."
    : entry.isSymbolicLink()
    ? "It is a link. Put the file itself in its place."
    : "It is no regular file. Remove it."

/** Longer than an exchange takes: a claimed file that is older belongs to a process that has ended. */
const claimMillis = 15 * 60 * 1000

/** Whether a file has not changed for some time. The clock was set back after files that are far ahead of it, and it may take hours until it is there again. */
const isQuietFor = (millis: number, age: number): boolean => age >= millis || age < -claimMillis

/** Longer names are cut: file systems take 255 bytes, with the ending of a report and what tells equal names apart. */
const longestKeptName = 200

/** Exchanges files through folders of a directory. */
export const directoryTransport = (directory: string, options: DirectoryOptions = {}): EdiTransport & EdiSpool => {
  checkOptions("directoryTransport", options, kinds)
  const { inbox: from = "inbox", maxEntries = 10_000, now = Date.now, onSkipped, quietMillis = 2_000 } = options
  const folder = async (name: string): Promise<string> => {
    const path = join(directory, name)
    await makeDirectory(path)
    return path
  }

  /** Oldest first. A folder to which partners write may have any number of entries. */
  const filesIn = async (name: string, skipped: Array<SkippedEntry> = []): Promise<ReadonlyArray<{ readonly name: string; readonly at: number }>> => {
    const path = await folder(name)
    const found: Array<{ readonly name: string; readonly at: number }> = []
    let looked = 0
    for await (const entry of await opendir(path)) {
      looked += 1
      if (looked > maxEntries) break
      // writers hide what is not complete, or give it another ending
      if (isUnfinished(entry.name)) continue
      const file = entry.isFile() ? await lstat(join(path, entry.name)).catch(ignoreMissing) : undefined
      // a writer may set a time that is far ahead, but not when the file system saw its last change
      if (file !== undefined) found.push({ name: entry.name, at: Math.min(file.mtimeMs, file.ctimeMs) })
      else if (!entry.isFile()) skipped.push({ name: entry.name, reason: kindOf(entry) })
      else if (entry.name.includes("\ufffd")) skipped.push({ name: entry.name, reason: "Its name is not UTF-8. Rename it." })
    }
    return found.sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
  }

  const waiting = async (limit: number): Promise<ReadonlyArray<string>> => {
    const skipped: Array<SkippedEntry> = []
    const files = await filesIn(from, skipped)
    onSkipped?.(firstSkipped(skipped))
    return files.filter(({ at }) => isQuietFor(quietMillis, now() - Math.floor(at))).slice(0, limit).map(({ name }) => name)
  }

  /** Files that were read, by their names: partners use a name again while its file is read. */
  const versions = new Map<string, string>()

  const read = (name: string) => contentOf(join(directory, from, name), (version) => versions.set(name, version))

  const keep = async (name: string, outcome: "done" | "failed", report: string): Promise<void> => {
    const inbox = await folder(from)
    const kept = await createReport(await folder(outcome), shortened(name), report)
    const version = versions.get(name)
    versions.delete(name)
    try {
      await rename(join(inbox, name), kept)
    } catch (error) {
      await rm(reportOf(kept), { force: true })
      // another process has kept it, with its report
      return ignoreMissing(error)
    }
    // it took the place of the file that was read, and waits to be read itself
    if (version !== undefined && versionOf(await lstat(kept)) !== version) await rename(kept, join(inbox, await freeName(inbox, name)))
  }

  /** Writes a file that is complete or not there. */
  const put = async (name: string, hidden: string, content: Uint8Array | AsyncIterable<Uint8Array>, nameOf = async () => name): Promise<void> => {
    try {
      // the partner may write to the folder: a link in place of a new file would lead to any file of ours
      await writeFile(hidden, content, { flag: "wx", flush: true })
      await rename(hidden, join(hidden, "..", await nameOf()))
    } catch (error) {
      await rm(hidden, { force: true })
      throw error
    }
  }

  const send = async (name: string, content: Uint8Array): Promise<void> => put(name, join(await folder("outbox"), `.${name}.${randomUUID()}.tmp`), content)

  const controlNumbers = async (count: number): Promise<ReadonlyArray<number>> => claimNumbers(await folder("control-numbers"), count)

  return { waiting, read, keep, send, controlNumbers, ...spoolIn({ directory, from, folder, filesIn, put, now }) }
}

interface Folders {
  readonly directory: string
  readonly from: string
  readonly folder: (name: string) => Promise<string>
  readonly filesIn: (name: string) => Promise<ReadonlyArray<{ readonly name: string; readonly at: number }>>
  readonly put: (name: string, hidden: string, content: AsyncIterable<Uint8Array>, nameOf: () => Promise<string>) => Promise<void>
  readonly now: () => number
}

const spoolIn = ({ directory, filesIn, folder, from, now, put }: Folders): EdiSpool => {
  const claimed = (name: string) => join(directory, "sending", name)

  /** Renaming is what only one process can do. The time of the claim tells others when its process must have ended. */
  const claim = async (name: string): Promise<boolean> => {
    await folder("sending")
    const path = join(directory, "outbox", name)
    try {
      // before the file is in `sending`, where an old one is one that nobody sends any more
      await lutimes(path, now() / 1000, now() / 1000)
      await rename(path, claimed(name))
      return true
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false
      throw error
    }
  }

  const release = async (name: string): Promise<void> => rename(claimed(name), join(await folder("outbox"), name)).catch(ignoreMissing)

  return {
    arrive: async (name, chunks) => {
      const inbox = await folder(from)
      // of processes that ended while they wrote
      for (const left of await readdir(inbox)) {
        if (!left.startsWith(`.${name}.`) || !left.endsWith(".tmp")) continue
        const file = await stat(join(inbox, left)).catch(ignoreMissing)
        if (file !== undefined && isQuietFor(claimMillis, now() - file.mtimeMs)) await rm(join(inbox, left), { force: true })
      }
      await put(name, join(inbox, `.${name}.${randomUUID()}.tmp`), chunks, () => freeName(inbox, name))
    },
    outgoing: async (limit) => {
      for (const { at, name } of await filesIn("sending")) if (isQuietFor(claimMillis, now() - at)) await release(name)
      return (await filesIn("outbox")).slice(0, limit).map(({ name }) => name)
    },
    claim,
    readClaimed: (name) => contentOf(claimed(name)),
    sent: async (name) => {
      const sent = await folder("sent")
      await rename(claimed(name), join(sent, await freeName(sent, name))).catch(ignoreMissing)
    },
    release
  }
}

/** Opens no link and no pipe: one may have replaced the file since the folder was read. */
async function* contentOf(path: string, onRead?: (version: string) => void): AsyncGenerator<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    throw codeOf(error) === "ENOENT" ? new FileNotRead(`${path} is gone.`, true) : error
  })
  try {
    const before = await file.stat()
    if (!before.isFile()) throw new FileNotRead(`${path} is no file.`)
    for await (const chunk of file.createReadStream({ autoClose: false })) yield chunk as Uint8Array
    if (versionOf(await file.stat()) !== versionOf(before)) throw new FileNotRead(`${path} changed while it was read.`)
    onRead?.(versionOf(before))
  } finally {
    await file.close()
  }
}

/** Changes with the content, and is another one of another file with the same name. */
const versionOf = ({ ino, mtimeMs, size }: Stats): string => `${ino} ${size} ${mtimeMs}`

const shortened = (name: string): string => {
  let short = name
  while (Buffer.byteLength(short) > longestKeptName) short = Array.from(short).slice(0, -1).join("")
  return short
}

/** Names that are counted. */
const maxCount = 100

/** Partners use names again. The folder may have a million files, so its entries are not listed. */
const freeName = async (directory: string, name: string): Promise<string> => {
  for (let count = 0; count <= maxCount; count++) {
    const candidate = count === 0 ? name : `${name}.${count}`
    if (await isFree(join(directory, candidate))) return candidate
  }
  return `${name}.${randomUUID()}`
}

const reportOf = (kept: string): string => `${kept}.report.jsonl`

/** Returns the path for the file of the report. Other processes may keep files with the same name. */
const createReport = async (directory: string, name: string, report: string): Promise<string> => {
  for (;;) {
    const kept = join(directory, await freeName(directory, name))
    try {
      await writeFile(reportOf(kept), report, { flag: "wx" })
      return kept
    } catch (error) {
      if (codeOf(error) === "EEXIST") continue
      // a part of it, on a full disk
      await rm(reportOf(kept), { force: true })
      throw error
    }
  }
}

/** A partner's file may have the name of the report of another one. */
const isFree = async (path: string): Promise<boolean> => {
  for (const each of [path, reportOf(path)]) if (await lstat(each).catch(ignoreMissing) !== undefined) return false
  return true
}
