/** Reads every file that waits at a transport, once. A polling worker calls it again and again; a host may call it from its own scheduler. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import type { EdiHandlers } from "../bridge/EdiHandlers.ts"
import type { FileReport, SetResult } from "../bridge/EdiResults.ts"
import { receiveFile } from "../bridge/ReceiveFile.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { encodeText } from "../x12/Encoding.ts"
import type { EdiTransport } from "./EdiTransport.ts"
import { FileNotRead } from "./FileErrors.ts"

/** A file that was read, with its report. */
export interface ReceivedFile {
  readonly name: string
  readonly report: FileReport
}

/** A file that could not be read to its end. It waits, and is read again. */
export interface UnreadFile {
  readonly name: string
  readonly error: unknown
}

/** Where files wait, and their handlers. */
export interface ReceiveWaitingOptions {
  readonly partner: PartnerProfile
  readonly transport: EdiTransport
  readonly handlers: EdiHandlers
  readonly onFile?: ((file: ReceivedFile | UnreadFile) => void) | undefined
  readonly now?: (() => Date) | undefined
  /** Most files of one call. Default 100. */
  readonly limit?: number | undefined
  /** Files that are left out now, for example because they failed a moment ago. */
  readonly skip?: ReadonlySet<string> | undefined
}

const { count, function: callback, object } = optionKinds

const kinds: OptionKinds<ReceiveWaitingOptions> = {
  partner: object,
  transport: object,
  handlers: object,
  onFile: callback,
  now: callback,
  limit: count,
  skip: { what: "a Set of names", accepts: (value) => value instanceof Set }
}

/** Of a report. The file itself is kept beside it. */
const maxReportLines = 100_000
const maxReportCharacters = 16 * 1024 * 1024

/** Returns the number of files that were read. One that fails does not stop the others, and stays where it is. */
export const receiveWaiting = async (options: ReceiveWaitingOptions): Promise<number> => {
  checkOptions("receiveWaiting", options, kinds)
  const { limit = 100, onFile, skip = new Set(), transport } = options
  let received = 0
  const waiting = await transport.waiting(limit + skip.size)
  for (const name of waiting.filter((each) => !skip.has(each)).slice(0, limit)) {
    try {
      onFile?.({ name, report: await receiveOne(options, name) })
      received += 1
    } catch (error) {
      // another process has read it meanwhile
      if (!(error instanceof FileNotRead && error.isGone)) onFile?.({ name, error })
    }
  }
  return received
}

/** Reads one file, and rejects if it cannot be read to its end. Then it waits. */
export const receiveOne = async ({ handlers, now, partner, transport }: ReceiveWaitingOptions, name: string): Promise<FileReport> => {
  const lines: Array<string> = []
  let characters = 0
  let resultsLeftOut = 0
  const onResult = (result: SetResult) => {
    const line = lines.length < maxReportLines && characters < maxReportCharacters ? JSON.stringify(result) : undefined
    if (line === undefined || characters + line.length > maxReportCharacters) {
      resultsLeftOut += 1
      return
    }
    characters += line.length
    lines.push(line)
  }
  const report = await receiveFile({ partner, chunks: transport.read(name), handlers, controlNumbers: transport.controlNumbers, onResult, now })
  const { acknowledgements, ...counts } = report
  const [first] = acknowledgements
  // one file for one, however many interchanges it has: the folder does not fill faster than the partner's own
  if (first !== undefined) await transport.send(`${partner.partner}-${String(first.controlNumber).padStart(9, "0")}.edi`, encodeText(acknowledgements.map(({ text }) => text).join("")))
  const summary = resultsLeftOut === 0 ? counts : { ...counts, resultsLeftOut }
  // a crash before this line reads the file again: what was stored is a duplicate
  await transport.keep(name, report.interchanges === 0 || report.accepted + report.duplicates === 0 && report.acknowledged.length === 0 ? "failed" : "done", `${[JSON.stringify(summary), ...lines].join("\n")}\n`)
  return report
}
