import { execFileSync } from "node:child_process"
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { EdiHandlers } from "@waybill/edi"
import { directoryTransport, type SkippedEntry, outgoingLog, type ReceivedFile, receiveWaiting, type UnreadFile } from "@waybill/edi/transports"
import { startTestWaybill } from "@waybill/testkit"
import { directory } from "../Directory.ts"
import { fileOf, partnerOf } from "../Partner.ts"
import { contents, read } from "../x12/Samples.ts"

const good = fileOf(["B10*1**ABCD", "LX*1", "AT7*X4*NS***20261120*0815*UT"])
const names = (path: string, folder: string) => readdirSync(join(path, folder)).sort()

const receive = async (path: string, handlers: EdiHandlers) => {
  const files: Array<ReceivedFile | UnreadFile> = []
  await receiveWaiting({ partner: partnerOf(), transport: directoryTransport(path, { quietMillis: 0 }), handlers, onFile: (file) => files.push(file) })
  return files
}

const contentsOf = async (chunks: AsyncIterable<Uint8Array>) => {
  const read: Array<Uint8Array> = []
  for await (const chunk of chunks) read.push(chunk)
  return Buffer.concat(read).toString()
}

describe("a directory that is absent", () => {
  it("is created with those above it, by any number of callers", async () => {
    const path = join(directory("inbox"), "edi/big-shipper")
    expect(await Promise.all(Array.from({ length: 20 }, () => directoryTransport(path).waiting(1)))).toEqual(Array.from({ length: 20 }, () => []))
    expect(names(path, ".")).toEqual(["inbox"])
  })

  it.skipIf(!existsSync("/proc/self"))("is refused in /proc, where Node's own function never ends", async () => {
    for (const path of ["/proc", "/proc/waybill/acme"]) {
      await expect(directoryTransport(path).waiting(1)).rejects.toThrow("ENOENT")
      await expect(directoryTransport(path).controlNumbers(1)).rejects.toThrow("ENOENT")
      await expect(outgoingLog(join(path, "outgoing")).last()).rejects.toThrow("ENOENT")
    }
  })
})

describe("a hostile inbox", () => {
  it("with links and pipes in place of files gives nothing of what they lead to", async () => {
    const path = directory("inbox")
    const transport = directoryTransport(path, { quietMillis: 0 })
    writeFileSync(join(path, "secret"), "secret")
    symlinkSync(join(path, "secret"), join(path, "inbox/link.edi"))
    execFileSync("mkfifo", [join(path, "inbox/pipe.edi")])
    expect(await transport.waiting(10)).toEqual([])
    // they take the place of a file after the look
    await expect(contentsOf(transport.read("link.edi"))).rejects.toThrow("ELOOP")
    await expect(contentsOf(transport.read("pipe.edi"))).rejects.toThrow("is no file")
  })

  it("names what it never reads", async () => {
    const path = directory("inbox")
    const seen: Array<ReadonlyArray<SkippedEntry>> = []
    const transport = directoryTransport(path, { quietMillis: 0, onSkipped: (skipped) => seen.push(skipped) })
    writeFileSync(join(path, "inbox/.hidden"), "")
    expect(await transport.waiting(10)).toEqual([])
    writeFileSync(Buffer.concat([Buffer.from(join(path, "inbox/caf")), Buffer.from([0xe9])]), good)
    expect(await transport.waiting(10)).toEqual([])
    symlinkSync(join(path, "inbox"), join(path, "inbox/link.edi"))
    expect(await transport.waiting(10)).toEqual([])
    const cafe = { name: "caf\ufffd", reason: "Its name is not UTF-8. Rename it." }
    expect(seen).toEqual([[], [cafe], [cafe, { name: "link.edi", reason: "It is a link. Put the file itself in its place." }]])
    for (let count = 0; count < 30; count++) mkdirSync(join(path, "inbox", `a-${String(count).padStart(2, "0")}`))
    expect(await transport.waiting(10)).toEqual([])
    expect(seen.at(-1)!.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, count) => `a-${String(count).padStart(2, "0")}`))
  })

  it("with a file from the future reads it when it is complete", async () => {
    const path = directory("inbox")
    writeFileSync(join(path, "inbox/a.edi"), good)
    utimesSync(join(path, "inbox/a.edi"), 4_000_000_000, 4_000_000_000)
    expect(await directoryTransport(path).waiting(10)).toEqual([])
    expect(await directoryTransport(path, { now: () => Date.now() + 3_000 }).waiting(10)).toEqual(["a.edi"])
  })

  it("with a file from before the clock was set back by hours reads it", async () => {
    const path = directory("inbox")
    writeFileSync(join(path, "inbox/a.edi"), good)
    expect(await directoryTransport(path, { now: () => Date.now() - 60_000 }).waiting(10)).toEqual([])
    expect(await directoryTransport(path, { now: () => Date.now() - 18_000_000 }).waiting(10)).toEqual(["a.edi"])
  })

  it("with names of 255 bytes keeps the files, and tells equal beginnings apart", async () => {
    const path = directory("inbox")
    for (const end of ["a", "b"]) writeFileSync(join(path, "inbox", `${"é".repeat(127)}${end}`), good)
    const files = await receive(path, { transitEvents: async (events) => events.map(() => ({ result: "accepted" })) })
    expect(files.map((file) => "error" in file ? file.error : file.report.accepted)).toEqual([1, 1])
    expect(names(path, "done").filter((name) => !name.endsWith(".jsonl"))).toEqual(["é".repeat(100), `${"é".repeat(100)}.1`])
  })

  it("with the name of another file's report keeps both", async () => {
    const path = directory("inbox")
    const transport = directoryTransport(path, { quietMillis: 0 })
    for (const name of ["a.edi.report.jsonl", "a.edi"]) {
      writeFileSync(join(path, "inbox", name), name)
      await transport.keep(name, "done", "{}")
    }
    const kept = names(path, "done").map((name) => readFileSync(join(path, "done", name), "utf8")).filter((text) => text !== "{}")
    expect(kept.sort()).toEqual(["a.edi", "a.edi.report.jsonl"])
  })

  it("with a file that takes the place of one that is read keeps it for the next look", async () => {
    const path = directory("inbox")
    const transport = directoryTransport(path, { quietMillis: 0 })
    writeFileSync(join(path, "inbox/a.edi"), "first")
    expect(await contentsOf(transport.read("a.edi"))).toBe("first")
    writeFileSync(join(path, "inbox/.a.edi.tmp"), "second")
    renameSync(join(path, "inbox/.a.edi.tmp"), join(path, "inbox/a.edi"))
    await transport.keep("a.edi", "done", "{}")
    expect(readFileSync(join(path, "inbox/a.edi"), "utf8")).toBe("second")
    await contentsOf(transport.read("a.edi"))
    await transport.keep("a.edi", "done", "{}")
    expect([names(path, "inbox"), readFileSync(join(path, "done/a.edi.1"), "utf8")]).toEqual([[], "second"])
  })

  it("with a file that grows while it is read has it read again", async () => {
    const path = directory("inbox")
    writeFileSync(join(path, "inbox/a.edi"), "first")
    const chunks = directoryTransport(path, { quietMillis: 0 }).read("a.edi")[Symbol.asyncIterator]()
    await chunks.next()
    appendFileSync(join(path, "inbox/a.edi"), "second")
    const rest = async () => {
      while ((await chunks.next()).done !== true);
    }
    await expect(rest()).rejects.toThrow("a.edi changed while it was read.")
  })

  it("with any number of files is looked at in parts", async () => {
    const path = directory("inbox")
    for (let count = 0; count < 60; count++) writeFileSync(join(path, "inbox", `${count}.edi`), "")
    const transport = directoryTransport(path, { quietMillis: 0, maxEntries: 25 })
    const looks: Array<number> = []
    for (let names = await transport.waiting(100); names.length > 0; names = await transport.waiting(100)) {
      looks.push(names.length)
      for (const name of names) await transport.keep(name, "done", "")
    }
    expect(looks).toEqual([25, 25, 10])
  })

  it("with the same name again and again keeps every file", async () => {
    const path = directory("inbox")
    const transport = directoryTransport(path, { quietMillis: 0 })
    for (let count = 0; count < 103; count++) {
      writeFileSync(join(path, "inbox/a.edi"), String(count))
      await transport.keep("a.edi", "done", "")
    }
    const kept = names(path, "done").filter((name) => !name.endsWith(".jsonl"))
    expect(kept.map((name) => readFileSync(join(path, "done", name), "utf8")).sort()).toEqual(Array.from({ length: 103 }, (_, count) => String(count)).sort())
    expect(kept.filter((name) => /^a\.edi\.[0-9a-f-]{36}$/u.test(name))).toHaveLength(2)
  })
})

describe("a hostile outbox", () => {
  it("with links in place of files to come has nothing written to where they lead", async () => {
    const path = directory("outbox")
    const ours = join(path, "ours")
    writeFileSync(ours, "ours")
    for (const name of [".a.edi.tmp", "a.edi"]) symlinkSync(ours, join(path, "outbox", name))
    await directoryTransport(path).send("a.edi", new TextEncoder().encode("theirs"))
    expect([readFileSync(ours, "utf8"), readFileSync(join(path, "outbox/a.edi"), "utf8")]).toEqual(["ours", "theirs"])
  })
})

describe("files in a directory", () => {
  it("are stored, acknowledged, and kept with a report", async () => {
    const waybill = await startTestWaybill()
    const path = directory("inbox")
    writeFileSync(join(path, "inbox/a.edi"), good)
    await receive(path, { transitEvents: (events) => waybill.events.publish(waybill.carrier, events) })
    expect([names(path, "inbox"), names(path, "done"), names(path, "outbox")]).toEqual([[], ["a.edi", "a.edi.report.jsonl"], ["acme-000000001.edi"]])
    expect(contents(read(readFileSync(join(path, "outbox/acme-000000001.edi"), "utf8")))[0]!.at(-1)).toEqual(["AK9", "A", "1", "1", "1"])
    const [summary, result] = readFileSync(join(path, "done/a.edi.report.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line) as unknown)
    expect(summary).toMatchObject({ accepted: 1, refused: 0 })
    expect(result).toMatchObject({ set: "214", outcome: "accepted" })
    expect((await waybill.events.list(waybill.carrier)).totalCount).toBe(1)
  })

  it("are kept once, with one report, by processes that read them at the same time", async () => {
    const path = directory("inbox")
    writeFileSync(join(path, "inbox/a.edi"), good)
    const transports = Array.from({ length: 8 }, () => directoryTransport(path, { quietMillis: 0 }))
    await Promise.all(transports.map((transport) => contentsOf(transport.read("a.edi"))))
    await Promise.all(transports.map((transport) => transport.keep("a.edi", "done", "{}")))
    const [kept, ...others] = names(path, "done")
    // each takes a name for its report before it moves the file, so the first to move it may have another name
    expect(kept).toMatch(/^a\.edi(\.\d)?$/u)
    expect([names(path, "inbox"), others]).toEqual([[], [`${kept}.report.jsonl`]])
  })

  it("that another process has read meanwhile are no failure", async () => {
    const path = directory("inbox")
    const transport = directoryTransport(path, { quietMillis: 0 })
    const files: Array<ReceivedFile | UnreadFile> = []
    const count = await receiveWaiting({ partner: partnerOf(), transport: { ...transport, waiting: async () => ["gone.edi"] }, handlers: {}, onFile: (file) => files.push(file) })
    expect([count, files]).toEqual([0, []])
  })

  it("with the same name again are kept beside the first, as duplicates", async () => {
    const waybill = await startTestWaybill()
    const path = directory("inbox")
    for (let count = 0; count < 2; count++) {
      writeFileSync(join(path, "inbox/a.edi"), good)
      await receive(path, { transitEvents: (events) => waybill.events.publish(waybill.carrier, events) })
    }
    expect(names(path, "done")).toEqual(["a.edi", "a.edi.1", "a.edi.1.report.jsonl", "a.edi.report.jsonl"])
    expect(readFileSync(join(path, "done/a.edi.1.report.jsonl"), "utf8")).toContain("\"duplicates\":1")
  })

  it("of which nothing was stored are kept apart", async () => {
    const path = directory("inbox")
    writeFileSync(join(path, "inbox/a.edi"), "no EDI")
    writeFileSync(join(path, "inbox/b.edi"), good.replace("20261120*0815", "20261320*0815"))
    await receive(path, { transitEvents: async (events) => events.map(() => ({ result: "accepted" })) })
    expect(names(path, "failed")).toEqual(["a.edi", "a.edi.report.jsonl", "b.edi", "b.edi.report.jsonl"])
    expect(names(path, "outbox")).toEqual(["acme-000000001.edi"])
  })

  it("wait when the storage fails, and do not hold up others", async () => {
    const path = directory("inbox")
    writeFileSync(join(path, "inbox/a.edi"), good)
    writeFileSync(join(path, "inbox/b.edi"), "no EDI")
    const files = await receive(path, { transitEvents: () => Promise.reject(new Error("connection refused")) })
    expect(files.map(({ name, ...file }) => [name, "error" in file])).toEqual([["a.edi", true], ["b.edi", false]])
    expect(names(path, "inbox")).toEqual(["a.edi"])
    await receive(path, { transitEvents: async (events) => events.map(() => ({ result: "accepted" })) })
    expect(names(path, "done")).toEqual(["a.edi", "a.edi.report.jsonl"])
  })

  it("are read when their writer has finished, oldest first", async () => {
    const path = directory("inbox")
    const now = Date.now()
    for (const [name, age] of [["new.edi", 0], ["old.edi", 60], ["older.edi", 120], [".hidden.edi", 60], ["part.edi.part", 60]] as const) {
      writeFileSync(join(path, "inbox", name), good)
      utimesSync(join(path, "inbox", name), now / 1000 - age, now / 1000 - age)
    }
    const transport = directoryTransport(path, { quietMillis: 2_000, now: () => now })
    expect(await transport.waiting(10)).toEqual(["older.edi", "old.edi"])
    expect(await transport.waiting(1)).toEqual(["older.edi"])
  })

  it("give each control number once, to any number of processes, however many they take", async () => {
    const path = directory("inbox")
    const transports = Array.from({ length: 4 }, () => directoryTransport(path))
    const taken = await Promise.all(Array.from({ length: 40 }, async (_, call) => {
      const count = [1, 2, 100, 7][call % 4]!
      const numbers = await transports[call % 4]!.controlNumbers(count)
      expect(numbers).toEqual(Array.from({ length: count }, (_, index) => numbers[0]! + index))
      return numbers
    }))
    expect(taken.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1100 }, (_, index) => 1 + index))
    expect(await directoryTransport(path).controlNumbers(1)).toEqual([1101])
    expect(names(path, "control-numbers").filter((name) => !/^\d{9}$/u.test(name))).toEqual([])
  })

  it("give no control number twice after a crash at any moment of a claim", async () => {
    const path = directory("inbox")
    const at = (name: string) => join(path, "control-numbers", name)
    await directoryTransport(path).controlNumbers(5)
    // before the claim is there, and after it, with numbers that nobody used
    writeFileSync(at(".000000006.left.tmp"), "1000")
    expect(await directoryTransport(path).controlNumbers(10)).toEqual(Array.from({ length: 10 }, (_, index) => 6 + index))
    writeFileSync(at("000000016"), "1000")
    for (let number = 1016; number < 1216; number++) expect(await directoryTransport(path).controlNumbers(1)).toEqual([number])
    expect(names(path, "control-numbers").filter((name) => name.startsWith("."))).toEqual([])
  })

  it("keep the last hundred claims of control numbers", async () => {
    const path = directory("inbox")
    mkdirSync(join(path, "control-numbers"))
    for (let number = 1; number <= 300; number++) writeFileSync(join(path, "control-numbers", String(number).padStart(9, "0")), "")
    expect(await directoryTransport(path).controlNumbers(1)).toEqual([301])
    expect(names(path, "control-numbers").map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 101 }, (_, index) => 201 + index))
  })

  it("start their control numbers again after the last", async () => {
    const path = directory("inbox")
    mkdirSync(join(path, "control-numbers"))
    writeFileSync(join(path, "control-numbers/999999990"), "5")
    expect(await directoryTransport(path).controlNumbers(5)).toEqual([999999995, 999999996, 999999997, 999999998, 999999999])
    expect(await directoryTransport(path).controlNumbers(2)).toEqual([1, 2])
    expect(await directoryTransport(path).controlNumbers(1)).toEqual([3])
  })
})
