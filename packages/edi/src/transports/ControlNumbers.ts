/** Control numbers that any number of processes take from a directory. */
import { randomUUID } from "node:crypto"
import { link, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { codeOf, ignoreMissing } from "./FileErrors.ts"

/** Numbers have nine digits and start again after the last. */
const mostControlNumber = 999_999_999

/** Claims that stay. */
const keptClaims = 100

/** More than there are processes that take numbers at the same time, and far fewer than stay. */
const mostNewer = 50

/**
 * Takes the `count` numbers after those of the last claim. A claim is a file with the first number as its name and the count as its content, which
 * nobody else could create. The last claims stay, so a process that read the directory long ago either finds the file of its name, or many that are
 * newer than its own. A claim that is given up loses its numbers, and none is ever returned twice.
 */
export const claimNumbers = async (directory: string, count: number): Promise<ReadonlyArray<number>> => {
  for (;;) {
    const before = (await entriesIn(directory)).claims
    const last = before.at(-1)
    const first = last === undefined ? 1 : await afterClaim(directory, last)
    // removed meanwhile, because there are newer ones
    if (first === undefined) continue
    if (first + count - 1 > mostControlNumber) {
      await remove(directory, before)
      continue
    }
    const name = String(first).padStart(9, "0")
    if (!await claimed(directory, name, count)) continue
    const { claims, unfinished } = await entriesIn(directory)
    if (claims.length - 1 - claims.lastIndexOf(name) >= mostNewer) {
      await remove(directory, [name])
      continue
    }
    const oldest = claims.at(-1 - keptClaims) ?? ""
    await remove(directory, [...claims.filter((each) => each < oldest), ...unfinished.filter((each) => each.slice(1, 10) < oldest)])
    return Array.from({ length: count }, (_, index) => first + index)
  }
}

const entriesIn = async (directory: string) => {
  const entries = await readdir(directory)
  return {
    claims: entries.filter((name) => /^\d{9}$/u.test(name)).sort(),
    /** Of processes that ended in the middle, or are about to see that another one was faster. */
    unfinished: entries.filter((name) => /^\.\d{9}\..*\.tmp$/u.test(name))
  }
}

const remove = async (directory: string, names: ReadonlyArray<string>): Promise<void> => {
  for (const name of names) await rm(join(directory, name), { force: true })
}

/** The first number after a claim; `undefined` if the file is gone. An empty file claims its own number. */
const afterClaim = async (directory: string, name: string): Promise<number | undefined> => {
  const count = await readFile(join(directory, name), "utf8").catch(ignoreMissing)
  return count === undefined ? undefined : Number(name) + (Number(count) || 1)
}

/** Creates a file that is complete, also after a loss of power, unless it exists: others count on from its content. */
const claimed = async (directory: string, name: string, count: number): Promise<boolean> => {
  const hidden = join(directory, `.${name}.${randomUUID()}.tmp`)
  try {
    // one number is claimed by an empty file, too
    await writeFile(hidden, String(count), { flag: "wx", flush: count > 1 })
    await link(hidden, join(directory, name))
    return true
  } catch (error) {
    // somebody has the number, or so many newer ones that the hidden file was taken for one that was left behind
    if (codeOf(error) === "EEXIST" || codeOf(error) === "ENOENT") return false
    throw error
  } finally {
    await rm(hidden, { force: true })
  }
}
