/**
 * Files in a directory: `inbox` has what the partner sends, `outbox` what goes to the partner, `done` and `failed` what was read, each with its
 * report. Any number of processes may use it.
 */
import { createReadStream } from "node:fs"
import { mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { EdiTransport } from "./EdiTransport.ts"

export interface DirectoryOptions {
  /** How long a file has to be unchanged before it is read, because its writer may still be writing. Default 2,000. */
  readonly quietMillis?: number | undefined
  readonly now?: (() => number) | undefined
}

/** Numbers have nine digits and start again after the last. */
const mostControlNumber = 999_999_999

/** More than there are processes that take a number at the same time. */
const keptNumbers = 100

export const directoryTransport = (directory: string, { now = Date.now, quietMillis = 2_000 }: DirectoryOptions = {}): EdiTransport => {
  const folder = async (name: string): Promise<string> => {
    const path = join(directory, name)
    await mkdir(path, { recursive: true })
    return path
  }

  const waiting = async (limit: number): Promise<ReadonlyArray<string>> => {
    const inbox = await folder("inbox")
    const found: Array<{ readonly name: string; readonly at: number }> = []
    for (const entry of await readdir(inbox, { withFileTypes: true })) {
      // writers hide what is not complete, or give it another ending
      if (!entry.isFile() || entry.name.startsWith(".") || /\.(?:tmp|part|filepart)$/iu.test(entry.name)) continue
      const file = await stat(join(inbox, entry.name)).catch(ignoreMissing)
      if (file !== undefined && now() - Math.floor(file.mtimeMs) >= quietMillis) found.push({ name: entry.name, at: file.mtimeMs })
    }
    return found.sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1)).slice(0, limit).map(({ name }) => name)
  }

  const keep = async (name: string, outcome: "done" | "failed", report: string): Promise<void> => {
    const kept = join(await folder(outcome), await freeName(await folder(outcome), name))
    await writeFile(`${kept}.report.jsonl`, report)
    await rename(join(await folder("inbox"), name), kept).catch(ignoreMissing)
  }

  const send = async (name: string, text: string): Promise<void> => {
    const outbox = await folder("outbox")
    const hidden = join(outbox, `.${name}.tmp`)
    const file = await open(hidden, "w")
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(hidden, join(outbox, name))
  }

  /**
   * A file that nobody else could create claims its number. The last files stay, so a process that read the directory long ago either finds the file
   * of its number, or numbers that are far above it.
   */
  const nextControlNumber = async (): Promise<number> => {
    const numbers = await folder("control-numbers")
    const taken = async () => (await readdir(numbers)).filter((name) => /^\d{9}$/u.test(name)).sort()
    const remove = async (names: ReadonlyArray<string>) => {
      for (const name of names) await rm(join(numbers, name), { force: true })
    }
    for (;;) {
      const before = await taken()
      const number = Number(before.at(-1) ?? 0) + 1
      if (number > mostControlNumber) {
        await remove(before)
        continue
      }
      const name = String(number).padStart(9, "0")
      if (!await created(join(numbers, name))) continue
      const after = await taken()
      if (Number(after.at(-1)) >= number + keptNumbers) {
        await remove([name])
        continue
      }
      await remove(after.filter((each) => Number(each) < number - keptNumbers))
      return number
    }
  }

  return { waiting, read: (name) => createReadStream(join(directory, "inbox", name)), keep, send, nextControlNumber }
}

/** False if the file exists. */
const created = async (path: string): Promise<boolean> => {
  try {
    await (await open(path, "wx")).close()
    return true
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false
    throw error
  }
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code

/** Another process was faster. */
const ignoreMissing = (error: unknown): undefined => {
  if (codeOf(error) !== "ENOENT") throw error
  return undefined
}

/** Partners use names again. */
const freeName = async (directory: string, name: string): Promise<string> => {
  const taken = new Set(await readdir(directory))
  for (let count = 0;; count++) {
    const candidate = count === 0 ? name : `${name}.${count}`
    if (!taken.has(candidate)) return candidate
  }
}
