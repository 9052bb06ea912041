/**
 * The progress of sending one kind of set to a partner. A file is kept together with the position after it before it is sent, so that a
 * crash sends the same file again, with the same control numbers, and never its contents in another one.
 */
import { link, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { codeOf } from "../transports/FileErrors.ts"
import { makeDirectory } from "../transports/MakeDirectory.ts"

/** One step: where the feed continues, and the file of the step. */
export interface OutgoingEntry {
  /** From 1. */
  readonly number: number
  /** Where the feed continues. */
  readonly position: string
  /** The file for the partner; absent if nothing was written. */
  readonly file?: OutgoingFile | undefined
  readonly isSent: boolean
  /** Milliseconds since it was kept, or until then if the clock was set back. */
  readonly age: number
}

/** A file that was written and may not have been sent yet. */
export interface OutgoingFile {
  readonly name: string
  readonly text: string
}

/** How far the feed was sent. A file is kept before it is sent, so that a crash sends the same file again, with the same control numbers. */
export interface OutgoingLog {
  readonly last: () => Promise<OutgoingEntry | undefined>
  /** False if another process was faster: there is an entry with this number. */
  readonly append: (entry: Pick<OutgoingEntry, "number" | "position" | "file">) => Promise<boolean>
  readonly sent: (number: number) => Promise<void>
}

/** Entries that stay: a process that looked long ago finds that it is late. */
const keptEntries = 20

const nameOf = (number: number): string => String(number).padStart(12, "0")

/** Entries are files of a directory. Any number of processes may use it: only one of them can create an entry. */
export const outgoingLog = (directory: string): OutgoingLog => {
  const numbers = async (): Promise<ReadonlyArray<number>> => {
    await makeDirectory(directory)
    return (await readdir(directory)).filter((name) => /^\d{12}\.json$/u.test(name)).map((name) => Number(name.slice(0, 12))).sort((a, b) => a - b)
  }

  const last = async (): Promise<OutgoingEntry | undefined> => {
    const number = (await numbers()).at(-1)
    if (number === undefined) return undefined
    const path = join(directory, `${nameOf(number)}.json`)
    const { file, position } = JSON.parse(await readFile(path, "utf8")) as Pick<OutgoingEntry, "position" | "file">
    const isSent = file === undefined || await exists(join(directory, `${nameOf(number)}.sent`))
    return { number, position, file, isSent, age: Math.abs(Date.now() - (await stat(path)).mtimeMs) }
  }

  const remove = async (number: number): Promise<void> => {
    for (const ending of ["json", "sent"]) await rm(join(directory, `${nameOf(number)}.${ending}`), { force: true })
  }

  const append = async ({ file, number, position }: Pick<OutgoingEntry, "number" | "position" | "file">): Promise<boolean> => {
    const hidden = join(directory, `.${nameOf(number)}.${crypto.randomUUID()}.tmp`)
    try {
      await writeFile(hidden, JSON.stringify({ position, file }), { flush: true })
      await link(hidden, join(directory, `${nameOf(number)}.json`))
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false
      throw error
    } finally {
      await rm(hidden, { force: true })
    }
    const all = await numbers()
    // another process has removed this entry before, because it was old
    if (all.at(-1)! > number) {
      await remove(number)
      return false
    }
    for (const old of all.filter((each) => each <= number - keptEntries)) await remove(old)
    return true
  }

  const sent = (number: number): Promise<void> => writeFile(join(directory, `${nameOf(number)}.sent`), "")

  return { last, append, sent }
}

const exists = (path: string): Promise<boolean> => stat(path).then(() => true, () => false)
