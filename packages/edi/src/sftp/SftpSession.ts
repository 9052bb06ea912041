/** One connection to an SFTP server: every call has a time limit, and a lost connection fails them all. */
import { createHash, timingSafeEqual } from "node:crypto"
import ssh2, { type Client, type FileEntryWithStats, type SFTPWrapper, type Stats } from "ssh2"
import { MailboxError } from "../transports/EdiMailbox.ts"
import type { SftpOptions } from "./SftpMailbox.ts"

/** Of SFTP's version 3. */
export const statuses = { endOfFile: 1, noSuchFile: 2, permissionDenied: 3 } as const

const defaultTimeoutMillis = 30_000

/** Characters of a listing: each entry has its name and a line about it, which a server may make as long as a packet. */
const maxListed = 16 * 1024 * 1024
const defaultDeadlineMillis = 10 * 60 * 1000

type Done<A> = (error?: Error | null, value?: A) => void

/** The status of an SFTP answer, which a `MailboxError` keeps as its cause. */
export const statusOf = (error: unknown): number | undefined => {
  const { code } = (error instanceof MailboxError ? error.cause : error) as { readonly code?: unknown } ?? {}
  return typeof code === "number" ? code : undefined
}

export class SftpSession {
  readonly #client: Client
  readonly #sftp: SFTPWrapper
  readonly #where: string
  readonly #timeoutMillis: number
  readonly #calls = new Set<(error: MailboxError) => void>()
  readonly #deadline: NodeJS.Timeout
  #lost: MailboxError | undefined

  private constructor(client: Client, sftp: SFTPWrapper, options: SftpOptions) {
    this.#client = client
    this.#sftp = sftp
    this.#where = whereOf(options)
    this.#timeoutMillis = options.timeoutMillis ?? defaultTimeoutMillis
    const { deadlineMillis = defaultDeadlineMillis } = options
    this.#deadline = setTimeout(() => this.#lose(new MailboxError("timeout", `${this.#where} took longer than ${deadlineMillis / 1000} s.`)), deadlineMillis)
    client.removeAllListeners("error").on("error", (error: Error) => this.#lose(new MailboxError("connection", `${this.#where}: ${error.message}`)))
    client.on("close", () => this.#lose(new MailboxError("connection", `${this.#where} ended the connection.`)))
  }

  static open(options: SftpOptions): Promise<SftpSession> {
    const { hostKeys, password, passphrase, privateKey, timeoutMillis = defaultTimeoutMillis } = options
    const where = whereOf(options)
    const client = new ssh2.Client()
    let presented = ""
    return new Promise<SftpSession>((resolve, reject) => {
      const fail = (error: MailboxError) => {
        clearTimeout(timer)
        client.destroy()
        reject(error)
      }
      const timer = setTimeout(() => fail(new MailboxError("timeout", `${where} did not answer within ${timeoutMillis / 1000} s.`)), timeoutMillis)
      client.on("error", (error: Error & { readonly level?: string }) =>
        fail(
          presented !== "" && !hostKeys.some((known) => isSame(known, presented))
            ? new MailboxError("host_key", `${where} has the host key ${presented}, which is not among those of the partner profile. Ask the partner before you add it.`)
            : error.level === "client-authentication"
            ? new MailboxError("authentication", `${where} refused the user ${options.user}.`)
            : error.level === "client-timeout"
            ? new MailboxError("timeout", `${where} did not answer within ${timeoutMillis / 1000} s.`)
            : new MailboxError("connection", `${where}: ${error.message}`)
        ))
      client.on("close", () => fail(new MailboxError("connection", `${where} ended the connection.`)))
      // servers that ask for the password as a question; any other question is not answered
      client.on("keyboard-interactive", (_name, _instructions, _language, prompts, finish) => finish(password !== undefined && prompts.length === 1 && prompts[0]!.echo !== true ? [password] : []))
      client.on("ready", () =>
        client.sftp((error, sftp) => {
          clearTimeout(timer)
          if (error !== undefined) return fail(new MailboxError("connection", `${where} has no SFTP: ${error.message}`))
          client.removeAllListeners("close")
          resolve(new SftpSession(client, sftp, options))
        }))
      try {
        client.connect({
          host: options.host,
          port: options.port ?? 22,
          username: options.user,
          ...privateKey === undefined ? {} : { privateKey },
          ...passphrase === undefined ? {} : { passphrase },
          ...password === undefined ? {} : { password, tryKeyboard: true },
          // an agent of this machine's user has keys of other services
          agent: undefined as never,
          readyTimeout: timeoutMillis,
          hostVerifier: (key: Buffer) => {
            presented = fingerprintOf(key)
            return hostKeys.some((known) => isSame(known, presented))
          }
        })
      } catch {
        // the message of the library may have a part of the key
        fail(new MailboxError("settings", `The private key for ${where} cannot be read. Check its format and its passphrase.`))
      }
    })
  }

  call<A = void>(what: string, start: (sftp: SFTPWrapper, done: Done<A>) => void): Promise<A> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    return new Promise<A>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        this.#calls.delete(fail)
      }
      const fail = (error: MailboxError) => {
        end()
        reject(error)
      }
      const timer = setTimeout(() => this.#lose(new MailboxError("timeout", `${this.#where} did not answer within ${this.#timeoutMillis / 1000} s: ${what}.`)), this.#timeoutMillis)
      this.#calls.add(fail)
      start(this.#sftp, (error, value) => {
        end()
        if (error === undefined || error === null) return resolve(value as A)
        reject(this.#lost ?? Object.assign(new MailboxError("refused", `${this.#where} refused: ${what}: ${error.message}.`), { cause: error }))
      })
    })
  }

  /** At most `most` entries, in pieces, because a folder may have any number. */
  async list(folder: string, most: number): Promise<ReadonlyArray<FileEntryWithStats>> {
    const handle = await this.call<Buffer>(`open ${folder}`, (sftp, done) => sftp.opendir(folder, done))
    const entries: Array<FileEntryWithStats> = []
    let listed = 0
    try {
      while (entries.length < most) {
        const piece = await this.call<Array<FileEntryWithStats>>(`list ${folder}`, (sftp, done) => sftp.readdir(handle, done)).catch((error: unknown) => {
          if (statusOf(error) === statuses.endOfFile) return []
          throw error
        })
        if (piece.length === 0) break
        listed = piece.reduce((sum, { filename, longname }) => sum + filename.length + longname.length, listed)
        if (listed > maxListed) throw new MailboxError("refused", `${this.#where} refused: list ${folder}: the listing has more than ${maxListed} characters.`)
        entries.push(...piece)
      }
    } finally {
      await this.close(handle)
    }
    return entries.slice(0, most)
  }

  async sizeOf(path: string): Promise<number | undefined> {
    return (await this.attributesOf(path))?.size
  }

  /** `undefined` if there is none. */
  async attributesOf(path: string): Promise<Pick<Stats, "size" | "mtime"> | undefined> {
    try {
      return await this.call<Stats>(`stat ${path}`, (sftp, done) => sftp.stat(path, done))
    } catch (error) {
      if (statusOf(error) === statuses.noSuchFile) return undefined
      throw error
    }
  }

  async exists(path: string): Promise<boolean> {
    return await this.sizeOf(path) !== undefined
  }

  /** A handle that cannot be closed ends with the connection. */
  async close(handle: Buffer): Promise<void> {
    await this.call("close", (sftp, done) => sftp.close(handle, done)).catch(() => {})
  }

  async end(): Promise<void> {
    this.#client.end()
    // also for a server that does not close its end
    this.#lose(new MailboxError("connection", `The connection to ${this.#where} was closed.`))
  }

  #lose(error: MailboxError) {
    if (this.#lost !== undefined) return
    this.#lost = error
    clearTimeout(this.#deadline)
    this.#client.destroy()
    for (const fail of this.#calls) fail(error)
  }
}

const whereOf = ({ host, port = 22 }: SftpOptions): string => `sftp://${host}:${port}`

/** As `ssh-keygen -lf` prints it. */
const fingerprintOf = (key: Buffer): string => `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/u, "")}`

const isSame = (known: string, presented: string): boolean => known.length === presented.length && timingSafeEqual(Buffer.from(known), Buffer.from(presented))
