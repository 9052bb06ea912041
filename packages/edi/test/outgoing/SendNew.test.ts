import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { type EdiTransport, type OutgoingLog, outgoingLog, type SendNewOptions, sendNew, startOutgoing } from "@waybill/edi/transports"
import { directory } from "../Directory.ts"
import { partnerOf } from "../Partner.ts"

/** Items of a feed; positions are their indexes. */
const feedOf = (items: ReadonlyArray<string>, perPage = 2): SendNewOptions<string>["next"] => async (position) => {
  const from = position === undefined ? items.length : Number(position)
  const page = items.slice(from, from + perPage)
  return { items: page, position: String(from + page.length), more: from + page.length < items.length }
}

class Partner implements Pick<EdiTransport, "controlNumbers" | "send"> {
  readonly files: Array<readonly [name: string, text: string]> = []
  #number = 0
  controlNumbers = async () => [this.#number += 1]
  send = async (name: string, content: Uint8Array) => void this.files.push([name, new TextDecoder().decode(content)])
}

const optionsOf = (log: OutgoingLog, transport: SendNewOptions<string>["transport"], items: ReadonlyArray<string>, more: Partial<SendNewOptions<string>> = {}): SendNewOptions<string> => ({
  partner: partnerOf(),
  transport,
  log,
  next: feedOf(items),
  write: (page, { controlNumber }) => ({ text: `${controlNumber}:${page.join(",")}`, sets: page.length, notWritten: [] }),
  ...more
})

describe("sending what is new", () => {
  it("begins at the end of the feed, and sends what comes later, a file for each page", async () => {
    const log = outgoingLog(directory())
    const partner = new Partner()
    const items = ["a"]
    expect(await sendNew(optionsOf(log, partner, items))).toBe(0)
    items.push("b", "c", "d")
    expect(await sendNew(optionsOf(log, partner, items))).toBe(2)
    expect(partner.files).toEqual([["acme-000000001.edi", "1:b,c"], ["acme-000000002.edi", "2:d"]])
    expect(await sendNew(optionsOf(log, partner, items))).toBe(0)
  })

  it("sends files in the encoding of the partner", async () => {
    const log = outgoingLog(directory())
    const sent: Array<Uint8Array> = []
    const transport = { controlNumbers: async () => [1], send: async (_: string, content: Uint8Array) => void sent.push(content) }
    const items: Array<string> = []
    for (const encoding of ["windows-1252", "utf-8"] as const) {
      const options = optionsOf(log, transport, items, { partner: partnerOf({ encoding }) })
      await startOutgoing(options)
      items.push("Café €5")
      await sendNew(options)
    }
    expect(sent.map((content) => Buffer.from(content).toString("latin1"))).toEqual(["1:Caf\u00e9 \u00805", "1:Caf\u00c3\u00a9 \u00e2\u0082\u00ac5"])
  })

  it("sends the same file again after a crash, when it is old enough", async () => {
    const path = directory()
    const log = outgoingLog(path)
    const partner = new Partner()
    const items: Array<string> = []
    await startOutgoing(optionsOf(log, partner, items))
    items.push("a", "b", "c")
    const crashing = { ...partner, controlNumbers: partner.controlNumbers, send: () => Promise.reject(new Error("crash")) }
    await expect(sendNew(optionsOf(log, crashing, items))).rejects.toThrow("crash")
    expect(await sendNew(optionsOf(log, partner, items))).toBe(0)
    const before = Date.now() / 1000 - 61
    utimesSync(join(path, "000000000002.json"), before, before)
    expect(await sendNew(optionsOf(log, partner, items))).toBe(1)
    expect(partner.files).toEqual([["acme-000000001.edi", "1:a,b"], ["acme-000000002.edi", "2:c"]])
  })

  it("sends a file that was kept before the clock was set back", async () => {
    const path = directory()
    const log = outgoingLog(path)
    const partner = new Partner()
    const items: Array<string> = []
    await startOutgoing(optionsOf(log, partner, items))
    items.push("a")
    await expect(sendNew(optionsOf(log, { ...partner, controlNumbers: partner.controlNumbers, send: () => Promise.reject(new Error("crash")) }, items))).rejects.toThrow("crash")
    const ahead = Date.now() / 1000 + 18_000
    utimesSync(join(path, "000000000002.json"), ahead, ahead)
    await sendNew(optionsOf(log, partner, items))
    expect(partner.files).toEqual([["acme-000000001.edi", "1:a"]])
  })

  it("sends items again whose file could not be written because the disk was full", async () => {
    const log = outgoingLog(directory())
    const partner = new Partner()
    const items: Array<string> = []
    const options = optionsOf(log, partner, items, { idle: {} })
    await sendNew(options)
    items.push("a", "b", "c")
    const full = { ...partner, send: partner.send, controlNumbers: () => Promise.reject(new Error("ENOSPC")) }
    await expect(sendNew({ ...options, transport: full })).rejects.toThrow("ENOSPC")
    await sendNew(options)
    expect(partner.files.map(([, text]) => text)).toEqual(["1:a,b", "2:c"])
  })

  it.runIf(process.platform === "linux")("leaves nothing of an entry that could not be written because the disk was full", async () => {
    const path = directory()
    onTestFinished(() => void vi.restoreAllMocks())
    vi.spyOn(crypto, "randomUUID").mockReturnValue("0-0-0-0-0")
    symlinkSync("/dev/full", join(path, ".000000000001.0-0-0-0-0.tmp"))
    await expect(outgoingLog(path).append({ number: 1, position: "1" })).rejects.toMatchObject({ code: "ENOSPC" })
    expect(readdirSync(path)).toEqual([])
  })

  it("goes on after items that cannot be written, and tells of them", async () => {
    const log = outgoingLog(directory())
    const partner = new Partner()
    const items: Array<string> = []
    await startOutgoing(optionsOf(log, partner, items))
    items.push("a", "b", "c")
    const told: Array<string | undefined> = []
    const write: SendNewOptions<string>["write"] = (page) => page.includes("a") ? { text: "", sets: 0, notWritten: [{ index: 0, refused: true, members: [] }] } : { text: "c", sets: 1, notWritten: [] }
    await sendNew(optionsOf(log, partner, items, { write, onFile: ({ name }) => told.push(name) }))
    expect(told).toEqual([undefined, "acme-000000002.edi"])
    expect(partner.files).toEqual([["acme-000000002.edi", "c"]])
  })

  it("keeps a position that moved without items for its process, and for others after ten minutes", async () => {
    const path = directory()
    const log = outgoingLog(path)
    let looks = 0
    const asked: Array<string | undefined> = []
    const next: SendNewOptions<string>["next"] = async (position) => {
      asked.push(position)
      return { items: [], position: String(looks += 1), more: false }
    }
    const options = optionsOf(log, new Partner(), [], { next, idle: {} })
    for (let count = 0; count < 3; count++) await sendNew(options)
    expect(asked).toEqual([undefined, "1", "2", "3"])
    expect((await log.last())?.position).toBe("1")
    const before = Date.now() / 1000 - 601
    utimesSync(join(path, "000000000001.json"), before, before)
    await sendNew(options)
    expect((await log.last())?.position).toBe("5")
  })

  it("removes old entries, and lets no process that is late write one of them", async () => {
    const path = directory()
    const log = outgoingLog(path)
    mkdirSync(path, { recursive: true })
    for (let number = 1; number <= 50; number++) expect(await log.append({ number, position: String(number) })).toBe(true)
    expect(readdirSync(path)).toHaveLength(20)
    expect(await log.append({ number: 2, position: "late" })).toBe(false)
    expect(await log.append({ number: 50, position: "late" })).toBe(false)
    expect(readdirSync(path).sort()[0]).toBe("000000000031.json")
    writeFileSync(join(path, "notes.txt"), "")
    expect((await log.last())?.position).toBe("50")
  })

  it("sends each item in order and in one file only, whatever crashes and however many processes there are", async () => {
    await forRandom(20, run)
  }, 60_000)
})

class Crash extends Error {}

/** Processes that crash at random before or after each step. */
const run = async (random: SeededRandom): Promise<void> => {
  const path = directory()
  const partner = new Partner()
  const items: Array<string> = []
  await startOutgoing(optionsOf(outgoingLog(path), partner, items))
  const crashing = <A extends ReadonlyArray<never>, B>(step: (...input: A) => Promise<B>) => async (...input: A): Promise<B> => {
    if (random.share(0.05)) throw new Crash()
    const output = await step(...input)
    if (random.share(0.05)) throw new Crash()
    return output
  }
  const { append, last, sent } = outgoingLog(path)
  const attempt = () =>
    sendNew(optionsOf({ last: crashing(last), append: crashing(append as never), sent: crashing(sent as never) } as OutgoingLog, { controlNumbers: crashing(partner.controlNumbers), send: crashing(partner.send as never) as never }, items, { staleMillis: 0 }))
      .catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error
      })
  for (let count = 0; count < 12; count++) {
    for (let more = random.below(4); more > 0; more--) items.push(`i${items.length}`)
    await Promise.all(Array.from({ length: 1 + random.below(3) }, attempt))
  }
  for (let count = 0; count < 20; count++) await sendNew(optionsOf({ append, last, sent }, partner, items, { staleMillis: 0 }))
  const once = [...new Map(partner.files).entries()]
  // a repeated file is the same file
  for (const [name, text] of partner.files) expect(once).toContainEqual([name, text])
  expect(once.flatMap(([, text]) => text.split(":")[1]!.split(","))).toEqual(items)
}
