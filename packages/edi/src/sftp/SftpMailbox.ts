/** A partner's folders on an SFTP server. Its host key has to be known; what is written there is renamed into place. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import { setTimeout as sleep } from "node:timers/promises"
import type { FileEntryWithStats } from "ssh2"
import { type EdiMailbox, isFileName, isUnfinished, longestFileName, MailboxError, type MailboxFile } from "../transports/EdiMailbox.ts"
import { firstSkipped, type SkippedEntry, type OnSkipped } from "../transports/SkippedEntry.ts"
import { SftpSession, statusOf, statuses } from "./SftpSession.ts"

/** Server, user, keys and folders. */
export interface SftpOptions {
  readonly host: string
  /** Default 22. */
  readonly port?: number | undefined
  readonly user: string
  /** Fingerprints of the host's keys, such as `SHA256:…`, as `ssh-keygen -lf` prints them. Any other host is refused before anything is sent to it. */
  readonly hostKeys: ReadonlyArray<string>
  /** A private key in OpenSSH or PEM format, or a password. */
  readonly privateKey?: string | undefined
  /** Of an encrypted private key. */
  readonly passphrase?: string | undefined
  readonly password?: string | undefined
  /** Folder with the partner's files for us. Without it nothing is fetched. */
  readonly receiveFrom?: string | undefined
  /** Folder that fetched files are moved to. Without it they are removed. */
  readonly moveTo?: string | undefined
  /** Folder for our files. */
  readonly sendTo?: string | undefined
  /** Larger files are left where they are. Default 256 MiB. */
  readonly maxFileBytes?: number | undefined
  /** Of one request and its answer. Default 30,000. */
  readonly timeoutMillis?: number | undefined
  /** Of the whole connection. Default ten minutes. */
  readonly deadlineMillis?: number | undefined
  /** How long a file has to be unchanged before it is fetched, because its writer may still be writing. Default 2,000. */
  readonly quietMillis?: number | undefined
  /** Entries of `receiveFrom` that are never fetched. Those that are not complete, and the folder `moveTo`, are not among them. */
  readonly onSkipped?: OnSkipped | undefined
}

const { count, function: callback, list, millis, text } = optionKinds

const kinds: OptionKinds<SftpOptions> = {
  host: text,
  port: { what: "a port", accepts: (value) => Number.isInteger(value) && (value as number) > 0 && (value as number) < 65_536 },
  user: text,
  hostKeys: list,
  privateKey: text,
  passphrase: text,
  password: text,
  receiveFrom: text,
  moveTo: text,
  sendTo: text,
  maxFileBytes: count,
  timeoutMillis: millis,
  deadlineMillis: millis,
  quietMillis: optionKinds.period,
  onSkipped: callback
}

const defaultMaxFileBytes = 256 * 1024 * 1024

/** Most entries of a folder that one exchange reads. Fetched files make room for others. */
const maxEntries = 10_000

/** What OpenSSH reads and writes at once. */
const pieceBytes = 32 * 1024

/** One connection at a time, opened by the first call. The mailbox can be used again after `close`. */
export const sftpMailbox = (options: SftpOptions): EdiMailbox => {
  checkOptions("sftpMailbox", options, kinds)
  return new SftpMailbox(options)
}

/** Connects and lists the folders, and changes nothing. Returns what it found as lines; rejects with a `MailboxError`. */
export const checkSftp = async (options: SftpOptions): Promise<ReadonlyArray<string>> => {
  checkOptions("checkSftp", options, kinds)
  const session = await SftpSession.open(options)
  try {
    const { moveTo, receiveFrom, sendTo } = options
    const found = [`${options.user} is logged in.`]
    if (receiveFrom !== undefined) {
      const { files, skipped } = filesIn(await session.list(receiveFrom, maxEntries), options)
      found.push(`${receiveFrom}: files that can be fetched: ${files.length}.`, ...firstSkipped(skipped).map(({ name, reason }) => `${join(receiveFrom, name)} is never fetched: ${reason}`))
    }
    for (const folder of [moveTo, sendTo]) {
      if (folder === undefined) continue
      if (folder === sendTo && !await session.exists(folder)) throw new MailboxError("refused", `There is no folder ${folder}.`)
      found.push(await session.exists(folder) ? `${folder}: exists.` : `${folder}: does not exist, and is created with the first file.`)
    }
    return found
  } finally {
    await session.end()
  }
}

interface Seen extends MailboxFile {
  readonly at: number
}

interface Found {
  readonly files: Array<Seen>
  readonly skipped: ReadonlyArray<SkippedEntry>
}

class SftpMailbox implements EdiMailbox {
  readonly #options: SftpOptions
  /** Files that we have and that the server did not let us move, by name: size and time. They are not fetched again. */
  readonly #fetched = new Map<string, string>()
  readonly #versions = new Map<string, string>()
  #session: Promise<SftpSession> | undefined

  constructor(options: SftpOptions) {
    this.#options = options
  }

  readonly waiting = async (limit: number): Promise<ReadonlyArray<MailboxFile>> => {
    if (this.#options.receiveFrom === undefined) return []
    const { files: before, skipped } = await this.#list(this.#options.receiveFrom)
    this.#options.onSkipped?.(firstSkipped(skipped))
    if (before.length === 0) return []
    await sleep(this.#options.quietMillis ?? 2_000)
    const after = new Map((await this.#list(this.#options.receiveFrom)).files.map((file) => [file.name, versionOf(file)]))
    const quiet = before.filter((file) => after.get(file.name) === versionOf(file) && this.#fetched.get(file.name) !== versionOf(file))
    const found = quiet.sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1)).slice(0, limit)
    this.#versions.clear()
    for (const file of found) this.#versions.set(file.name, versionOf(file))
    return found.map(({ bytes, name }) => ({ name, bytes }))
  }

  async *read({ bytes, name }: MailboxFile): AsyncGenerator<Uint8Array> {
    const session = await this.#connect()
    const path = join(this.#options.receiveFrom!, name)
    const changed = () => new MailboxError("refused", `${path} changed while it was read.`)
    const handle = await session.call<Buffer>(`open ${path}`, (sftp, done) => sftp.open(path, "r", done))
    try {
      for (let position = 0; position < bytes;) {
        const length = Math.min(pieceBytes, bytes - position)
        const piece = Buffer.allocUnsafe(length)
        const read = await session.call<number>(`read ${path}`, (sftp, done) => sftp.read(handle, piece, 0, length, position, done)).catch((error: unknown) => {
          if (statusOf(error) === statuses.endOfFile) return 0
          throw error
        })
        if (read === 0) throw changed()
        position += read
        yield piece.subarray(0, read)
      }
      const { size } = await session.call<{ readonly size: number }>(`stat ${path}`, (sftp, done) => sftp.fstat(handle, done))
      if (size !== bytes) throw changed()
    } finally {
      await session.close(handle)
    }
    const version = this.#versions.get(name)
    if (version !== undefined) this.#remember(name, version)
  }

  readonly taken = async (name: string): Promise<void> => {
    const { moveTo, receiveFrom } = this.#options
    const session = await this.#connect()
    const from = join(receiveFrom!, name)
    const isGone = () => session.exists(from).then((exists) => !exists)
    // the partner has put another one in its place, which is fetched by the next exchange
    if (await this.#isReplaced(session, from, name)) return
    const take = moveTo === undefined
      ? session.call(`remove ${from}`, (sftp, done) => sftp.unlink(from, done))
      : this.#move(session, from, moveTo, name)
    await take.catch(async (error: unknown) => {
      if (!(error instanceof MailboxError) || error.isFinal || !await isGone()) throw error
    })
    this.#fetched.delete(name)
  }

  readonly send = async (name: string, content: AsyncIterable<Uint8Array>): Promise<void> => {
    const { sendTo } = this.#options
    if (sendTo === undefined) throw new MailboxError("settings", "The transport of the partner profile has no sendTo.")
    const session = await this.#connect()
    const path = join(sendTo, name)
    const hidden = join(sendTo, `.${name}.tmp`)
    const handle = await session.call<Buffer>(`open ${hidden}`, (sftp, done) => sftp.open(hidden, "w", done))
    let position = 0
    try {
      for await (const chunk of content) {
        for (let from = 0; from < chunk.length; from += pieceBytes) {
          const piece = Buffer.from(chunk.subarray(from, from + pieceBytes))
          await session.call(`write ${hidden}`, (sftp, done) => sftp.write(handle, piece, 0, piece.length, position, done))
          position += piece.length
        }
      }
    } finally {
      await session.close(handle)
    }
    if (await session.sizeOf(hidden) !== position) throw new MailboxError("refused", `${hidden} was not stored as a whole.`)
    await session.call(`rename ${hidden}`, (sftp, done) => sftp.rename(hidden, path, done)).catch(async (error: unknown) => {
      // the answer to an earlier rename was lost: the partner has this file already
      if (!(error instanceof MailboxError) || error.isFinal || await session.sizeOf(path) !== position) throw error
      await session.call(`remove ${hidden}`, (sftp, done) => sftp.unlink(hidden, done)).catch(() => {})
    })
  }

  readonly close = async (): Promise<void> => {
    const session = this.#session
    this.#session = undefined
    await (await session?.catch(() => undefined))?.end()
  }

  #connect(): Promise<SftpSession> {
    return this.#session ??= SftpSession.open(this.#options)
  }

  async #list(folder: string): Promise<Found> {
    const session = await this.#connect()
    return filesIn(await session.list(folder, maxEntries), this.#options)
  }

  async #isReplaced(session: SftpSession, path: string, name: string): Promise<boolean> {
    const read = this.#versions.get(name)
    // a server that does not say is taken at its listing
    const now = await session.attributesOf(path).catch((error: unknown) => {
      if (!(error instanceof MailboxError) || error.isFinal) throw error
      return undefined
    })
    return read !== undefined && now !== undefined && versionOf({ bytes: now.size, at: now.mtime }) !== read
  }

  /** Partners use names again, and the folder may not exist yet. */
  async #move(session: SftpSession, from: string, folder: string, name: string): Promise<void> {
    const rename = (to: string) => session.call(`rename ${from}`, (sftp, done) => sftp.rename(from, to, done))
    try {
      await rename(join(folder, name))
    } catch (error) {
      if (!(error instanceof MailboxError) || error.isFinal || !await session.exists(from)) throw error
      const isThere = await session.exists(folder)
      if (!isThere) await session.call(`create ${folder}`, (sftp, done) => sftp.mkdir(folder, done))
      await rename(join(folder, isThere ? `${name}.${Date.now()}` : name))
    }
  }

  #remember(name: string, version: string) {
    if (this.#fetched.size >= maxEntries) this.#fetched.clear()
    this.#fetched.set(name, version)
  }
}

/** What a listing has, by name: a server may name an entry twice. */
const filesIn = (entries: ReadonlyArray<FileEntryWithStats>, options: SftpOptions): Found => {
  const files = new Map<string, Seen>()
  const skipped = new Map<string, SkippedEntry>()
  for (const entry of entries) {
    const { attrs: { mtime, size }, filename } = entry
    // the folder itself and its parent are among them
    if (isUnfinished(filename) || (options.receiveFrom !== undefined && join(options.receiveFrom, filename) === options.moveTo)) continue
    const reason = refusalOf(entry, options)
    if (reason === undefined) files.set(filename, { name: filename, bytes: size, at: mtime })
    else skipped.set(filename, { name: filename.slice(0, longestFileName), reason })
  }
  return { files: [...files.values()], skipped: [...skipped.values()] }
}

/** Why an entry is never fetched, and what to do. */
const refusalOf = ({ attrs, filename }: FileEntryWithStats, { maxFileBytes = defaultMaxFileBytes }: SftpOptions): string | undefined => {
  if (attrs.isDirectory()) return "It is a directory. Ask the partner to put its files into the folder itself."
  if (attrs.isSymbolicLink()) return "It is a link. Ask the partner to put the file itself in its place."
  if (!attrs.isFile()) return "It is no regular file. Ask the partner to remove it."
  if (!isFileName(filename)) return `Its name has more than ${longestFileName} bytes, a slash, a backslash or a control character. Ask the partner for another name.`
  if (attrs.size > maxFileBytes) return `It has ${attrs.size} bytes, and at most ${maxFileBytes} are fetched. Raise maxFileMegabytes in the partner profile, or ask the partner for smaller files.`
  return undefined
}

const versionOf = ({ at, bytes }: Pick<Seen, "at" | "bytes">): string => `${bytes} ${at}`

const join = (folder: string, name: string): string => `${folder === "/" ? "" : folder}/${name}`
