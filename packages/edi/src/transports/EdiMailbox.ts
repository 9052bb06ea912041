/** The partner's end: a server that keeps files for us and takes files from us. An SFTP server and an HTTP address are adapters of this port. */

export interface MailboxFile {
  readonly name: string
  readonly bytes: number
}

/** Where files of a partner wait for us, and ours for it. Every call rejects with `MailboxError`. */
export interface EdiMailbox {
  /** Complete files that wait for us, oldest first; at most `limit`. Those larger than `maxBytes` and those whose name is no file name are not among them. */
  readonly waiting: (limit: number) => Promise<ReadonlyArray<MailboxFile>>
  /** Fails if the file does not have the length that `waiting` gave it. */
  readonly read: (file: MailboxFile) => AsyncIterable<Uint8Array>
  /** Removes a file that was stored here. Does nothing if it is gone. */
  readonly taken: (name: string) => Promise<void>
  /** Puts a file for the partner, who never sees a part of it. The same file again replaces nothing. */
  readonly send: (name: string, content: AsyncIterable<Uint8Array>) => Promise<void>
  /** Ends the connection, if there is one. */
  readonly close: () => Promise<void>
}

/** Kinds of errors of a mailbox. */
export type MailboxProblem =
  /** The host has another key than the partner profile names. Nothing was sent to it. */
  | "host_key"
  | "authentication"
  /** No connection, or it was lost. */
  | "connection"
  | "timeout"
  /** The partner's end refused an operation on one file or folder. */
  | "refused"
  /** A secret or another setting of our own is missing or wrong. */
  | "settings"

/** An error at the partner's end. The message has no secret. */
export class MailboxError extends Error {
  override readonly name = "MailboxError"
  readonly problem: MailboxProblem

  constructor(problem: MailboxProblem, message: string) {
    super(message)
    this.problem = problem
  }

  /** The next file has the same problem. */
  get isFinal(): boolean {
    return this.problem !== "refused"
  }
}

/** Bytes of a file's name: short enough for a file system with a suffix. */
export const longestFileName = 200

/** A name without a path, visible, and not too long. */
export const isFileName = (name: string): boolean => /^[^./\\\u0000-\u001f\u007f][^/\\\u0000-\u001f\u007f]*$/u.test(name) && Buffer.byteLength(name) <= longestFileName

/** Names that writers give to what is not complete. */
export const isUnfinished = (name: string): boolean => name.startsWith(".") || /\.(?:tmp|part|filepart)$/iu.test(name)
