import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { isFull, removeKept } from "@waybill/edi/transports"
import { directory } from "../Directory.ts"

const later = (days: number) => Date.now() + days * 86_400_000

describe("a folder of waiting files", () => {
  it("is full with the limit's number of complete files", async () => {
    const path = directory("outbox")
    for (const name of ["a.edi", ".b.edi.tmp", "c.part"]) writeFileSync(join(path, "outbox", name), "")
    mkdirSync(join(path, "outbox/folder"))
    expect(await isFull(path, "outbox", 2)).toBe(false)
    writeFileSync(join(path, "outbox/d.edi"), "")
    expect(await isFull(path, "outbox", 2)).toBe(true)
  })

  it("is not full before it exists", async () => expect(await isFull(directory(), "inbox", 1)).toBe(false))
})

describe("files that were read or sent", () => {
  it("are removed with their reports after their time, and those that wait are not", async () => {
    const path = directory("inbox", "outbox", "done", "failed", "sent", "sending", "outgoing")
    for (const folder of readdirSync(path)) writeFileSync(join(path, folder, "a.edi"), "")
    for (const folder of ["done", "failed"]) writeFileSync(join(path, folder, "a.edi.report.jsonl"), "{}")
    expect(await removeKept(path, Date.now() - 60_000)).toBe(0)
    expect(await removeKept(path, later(1))).toBe(5)
    expect(readdirSync(path).filter((folder) => readdirSync(join(path, folder)).length > 0)).toEqual(["inbox", "outbox", "outgoing", "sending"])
  })

  it("are removed with what processes left that ended while they wrote", async () => {
    const path = directory("outbox", "posted", "inbox")
    const left = ".a.edi.01234567-89ab-cdef-0123-456789abcdef.tmp"
    for (const folder of readdirSync(path)) for (const name of [left, ".partner.tmp"]) writeFileSync(join(path, folder, name), "")
    expect(await removeKept(path, later(1))).toBe(2)
    expect(readdirSync(join(path, "inbox"))).toContain(left)
  })

  it("count from when they were put there, not from when their writer says they were written", async () => {
    const path = directory("done")
    writeFileSync(join(path, "done/a.edi"), "")
    utimesSync(join(path, "done/a.edi"), 1_000, 1_000)
    expect(await removeKept(path, Date.now() - 60_000)).toBe(0)
  })

  it("are removed only if they are files", async () => {
    const path = directory("done", "failed")
    writeFileSync(join(path, "profile.json"), "{}")
    symlinkSync(join(path, "profile.json"), join(path, "done/link.edi"))
    mkdirSync(join(path, "failed/folder"))
    expect(await removeKept(path, later(1))).toBe(0)
  })
})
