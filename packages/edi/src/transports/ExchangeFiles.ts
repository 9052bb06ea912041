/** Fetches what waits in a partner's mailbox and sends what waits for the partner, once. Files are stored on the way, so a lost connection loses none. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import { type EdiMailbox, MailboxError, type MailboxFile } from "./EdiMailbox.ts"
import type { EdiSpool } from "./EdiSpool.ts"

/** A file that was fetched or sent. */
export interface ExchangedFile {
  readonly name: string
  readonly direction: "received" | "sent"
}

/** A file that stays where it is until the next exchange. */
export interface FailedFile extends ExchangedFile {
  readonly error: unknown
}

/** A mailbox, our folders, and limits. */
export interface ExchangeOptions {
  readonly mailbox: EdiMailbox
  readonly spool: EdiSpool
  readonly onFile?: ((file: ExchangedFile | FailedFile) => void) | undefined
  /** Most files of one call in each direction, without those that are refused. Default 100. */
  readonly limit?: number | undefined
  /** False fetches nothing, for example because too many files wait here. Default true. */
  readonly receive?: boolean | undefined
  /** Ends the exchange: no other file begins, and the mailbox is closed. */
  readonly signal?: AbortSignal | undefined
}

const { boolean, count, function: callback, object } = optionKinds

const kinds: OptionKinds<ExchangeOptions> = { mailbox: object, spool: object, onFile: callback, limit: count, receive: boolean, signal: object }

/** The oldest files are exchanged first. So many of them may be refused in each exchange without keeping later ones from their turn. */
const mostRefused = 1_000

/**
 * Returns the numbers of files. A file that is refused does not stop the others; the call rejects when the partner's end cannot be used. A file
 * whose exchange is interrupted is exchanged again, so the partner may get it twice, with the same control number. Closes the mailbox.
 */
export const exchangeFiles = async (options: ExchangeOptions): Promise<{ readonly received: number; readonly sent: number }> => {
  checkOptions("exchangeFiles", options, kinds)
  const { limit = 100, mailbox, onFile, receive = true, signal, spool } = options
  const counts = { received: 0, sent: 0 }
  const exchange = async (file: ExchangedFile, one: () => Promise<boolean>) => {
    signal?.throwIfAborted()
    try {
      if (!await one()) return
      counts[file.direction] += 1
      onFile?.(file)
    } catch (error) {
      // then it is not about this file
      if (!(error instanceof MailboxError) || error.isFinal) throw error
      onFile?.({ ...file, error })
    }
  }
  const abort = () => void mailbox.close()
  signal?.addEventListener("abort", abort)
  try {
    // sends first: the partner may wait for an acknowledgement
    for (const name of await spool.outgoing(limit + mostRefused)) {
      if (counts.sent < limit) await exchange({ name, direction: "sent" }, () => sendOne(mailbox, spool, name))
    }
    if (!receive) return counts
    for (const file of await mailbox.waiting(limit + mostRefused)) {
      if (counts.received < limit) await exchange({ name: file.name, direction: "received" }, () => receiveOne(mailbox, spool, file))
    }
    return counts
  } finally {
    signal?.removeEventListener("abort", abort)
    await mailbox.close()
  }
}

const sendOne = async (mailbox: EdiMailbox, spool: EdiSpool, name: string): Promise<boolean> => {
  if (!await spool.claim(name)) return false
  try {
    await mailbox.send(name, spool.readClaimed(name))
  } catch (error) {
    await spool.release(name)
    throw error
  }
  await spool.sent(name)
  return true
}

const receiveOne = async (mailbox: EdiMailbox, spool: EdiSpool, file: MailboxFile): Promise<boolean> => {
  await spool.arrive(file.name, mailbox.read(file))
  // a crash before this line fetches the file again: what was stored is a duplicate
  await mailbox.taken(file.name)
  return true
}
