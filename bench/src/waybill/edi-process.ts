/** Reads an interchange of 214 that is made while it is read, so that only the reader's memory counts. */
import { InterchangeReader, partnerProfile, receiveFile } from "@waybill/edi"
import { serve } from "../machine/Child.ts"

const partner = partnerProfile({ partner: "bench", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214"] })

const setOf = (number: number): string => {
  const control = String(number).padStart(9, "0")
  const minute = String(number % 60).padStart(2, "0")
  return [
    `ST*214*${control}`, `B10*PRO${control}*SHIP${control}*ABCD`, `L11*BOL${control}*BM`, `L11*45${control}*PO`, "N1*SH*Acme Widgets*93*DOCK4", "N3*1 Main St", "N4*Springfield*IL*62701*US",
    "N1*CN*Joe's Hardware", "N4*Nashville*TN*37201*US", "LX*1", `AT7*X4*NS***20261120*08${minute}*LT`, "MS1*Springfield*IL*US", "MS2*ABCD*5312", "AT8*G*L*1250.5*4", `SE*15*${control}`, ""
  ].join("~")
}

/** Pieces of 64 KiB, as a file stream returns them. */
function* interchange(sets: number): Generator<Uint8Array> {
  let text = "ISA*00*          *00*          *02*ABCD           *ZZ*WAYBILL        *261120*1415*U*00401*000000007*0*P*>~GS*QM*ABCD*WAYBILL*20261120*1415*7*X*004010~"
  for (let number = 1; number <= sets; number++) {
    text += setOf(number)
    if (text.length < 65_536) continue
    yield Buffer.from(text)
    text = ""
  }
  yield Buffer.from(`${text}GE*${sets}*7~IEA*1*000000007~`)
}

/** Runs a reading and returns its length, the milliseconds, and the largest resident memory above that before it. */
const measured = async (sets: number, read: (chunks: Iterable<Uint8Array>) => Promise<number>) => {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  let bytes = 0
  function* watched() {
    for (const chunk of interchange(sets)) {
      bytes += chunk.length
      most = Math.max(most, process.memoryUsage.rss())
      yield chunk
    }
  }
  const began = performance.now()
  const count = await read(watched())
  const millis = performance.now() - began
  if (count !== sets) throw new Error(`${count} of ${sets} sets were read`)
  return { millis, bytes, memory: Math.max(most, process.memoryUsage.rss()) - before }
}

const handlers = {
  /** Divides and checks envelopes only. */
  divide: (sets: number) => measured(sets, async (chunks) => {
    const reader = new InterchangeReader()
    let count = 0
    for (const chunk of chunks) for (const event of reader.push(chunk)) if (event.kind === "set" && event.faults.length === 0) count += 1
    for (const _ of reader.end());
    return count
  }),
  /** Makes events, and the acknowledgement. Storing them is not in it. */
  receive: (sets: number) => measured(sets, async (chunks) => {
    const { accepted } = await receiveFile({ partner, chunks, handlers: { transitEvents: async (events) => events.map(() => ({ result: "accepted" })) }, controlNumbers: async (count) => Array.from({ length: count }, () => 1) })
    return accepted
  })
}

export type EdiHandlers = typeof handlers

serve(handlers)
