/** Sends new items to a partner: pages of a feed become files, each sent at least once and in order. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import type { NotWritten, WrittenFile } from "../bridge/WriteFile.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import type { EdiTransport } from "../transports/EdiTransport.ts"
import { encodeText } from "../x12/Encoding.ts"
import type { OutgoingEntry, OutgoingLog } from "./OutgoingLog.ts"

/** A page of new items, and where the next one starts. */
export interface FeedPage<Item> {
  readonly items: ReadonlyArray<Item>
  readonly position: string
  readonly more: boolean
}

/** A file that was written for a partner. */
export interface SentFile {
  /** Absent if nothing could be written. */
  readonly name: string | undefined
  readonly sets: number
  readonly notWritten: ReadonlyArray<NotWritten>
}

/** How far a process has looked without finding anything, since the entry with this number. */
export interface IdlePosition {
  number?: number
  position?: string
}

/** Where new items come from, and where their files go. */
export interface SendNewOptions<Item> {
  readonly partner: PartnerProfile
  readonly transport: Pick<EdiTransport, "controlNumbers" | "send">
  readonly log: OutgoingLog
  /** New items since a position. Without one it returns the present end. */
  readonly next: (position: string | undefined) => Promise<FeedPage<Item>>
  readonly write: (items: ReadonlyArray<Item>, options: { readonly partner: PartnerProfile; readonly controlNumber: number; readonly at: Date }) => WrittenFile
  readonly onFile?: ((file: SentFile) => void) | undefined
  readonly now?: (() => Date) | undefined
  /** Most files of one call. Default 20. */
  readonly limit?: number | undefined
  /** Kept between calls, so that the next call compares only later items. */
  readonly idle?: IdlePosition | undefined
  /** After this time, a file that another process kept and did not send is sent here. Default 60,000. */
  readonly staleMillis?: number | undefined
}

const { count: wholeNumber, function: callback, object, period } = optionKinds

const kinds: OptionKinds<SendNewOptions<unknown>> = {
  partner: object,
  transport: object,
  log: object,
  next: callback,
  write: callback,
  onFile: callback,
  now: callback,
  limit: wholeNumber,
  idle: object,
  staleMillis: period
}

/** A position that moved without a file is written after this time, so that another process has less to compare. */
const idleMillis = 10 * 60_000

/** Keeps where the feed ends, if nothing was sent yet. What comes later is new. */
export const startOutgoing = async <Item>({ log, next }: Pick<SendNewOptions<Item>, "log" | "next">): Promise<void> => {
  if (await log.last() === undefined) await log.append({ number: 1, position: (await next(undefined)).position })
}

/** Returns the number of files. Ends early when another process sends to the same partner. */
export const sendNew = async <Item>(options: SendNewOptions<Item>): Promise<number> => {
  checkOptions("sendNew", options, kinds)
  const { idle = {}, limit = 20, log, next, onFile } = options
  await startOutgoing(options)
  let count = 0
  while (count < limit) {
    const last = (await log.last())!
    if (!await isDone(options, last)) return count
    const page = await next(idle.number === last.number ? idle.position : last.position)
    if (page.items.length === 0) {
      // not for a page with items: they are read again when their file cannot be written
      Object.assign(idle, { number: last.number, position: page.position })
      if (page.more) continue
      if (last.age < idleMillis) return count
    }
    const file = page.items.length === 0 ? undefined : await written(options, page.items)
    const entry = { number: last.number + 1, position: page.position, file: file?.file }
    if (page.position === last.position || !await log.append(entry)) return count
    if (file?.file !== undefined) await send(options, entry.number, file.file)
    if (file !== undefined) {
      onFile?.(file)
      count += 1
    }
    if (!page.more) return count
  }
  return count
}

type Written = SentFile & { readonly file: OutgoingEntry["file"] }

const written = async <Item>({ now = () => new Date(), partner, transport, write }: SendNewOptions<Item>, items: ReadonlyArray<Item>): Promise<Written> => {
  const [controlNumber] = await transport.controlNumbers(1)
  const { notWritten, sets, text } = write(items, { partner, controlNumber: controlNumber!, at: now() })
  const name = sets === 0 ? undefined : `${partner.partner}-${String(controlNumber).padStart(9, "0")}.edi`
  return { name, sets, notWritten, file: name === undefined ? undefined : { name, text } }
}

const send = async <Item>({ log, partner, transport }: Pick<SendNewOptions<Item>, "log" | "partner" | "transport">, number: number, { name, text }: NonNullable<OutgoingEntry["file"]>): Promise<void> => {
  await transport.send(name, encodeText(text, partner.encoding))
  // a crash before this line sends the same file again
  await log.sent(number)
}

/** Sends the previous file first. Returns false while another process may be sending it. */
const isDone = async <Item>(options: SendNewOptions<Item>, { age, file, isSent, number }: OutgoingEntry): Promise<boolean> => {
  const { staleMillis = 60_000 } = options
  if (isSent || file === undefined) return true
  if (age < staleMillis) return false
  await send(options, number, file)
  return true
}
