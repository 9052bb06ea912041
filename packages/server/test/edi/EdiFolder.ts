/** A partner's folder in tests of the EDI worker. */
import { TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { directory } from "../program/Program.ts"

export const profile = { partner: "acme", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214", "210"], carrier: { dot: "1234567" } }

/** A file with one set; `segments` stand between ST and SE. */
export const fileOf = (functionalId: string, set: string, segments: ReadonlyArray<string>, number = 7): string => {
  const control = String(number).padStart(9, "0")
  return [
    `ISA*00*          *00*          *02*ABCD           *ZZ*WAYBILL        *261120*1415*U*00401*${control}*0*P*>`,
    `GS*${functionalId}*ABCD*WAYBILL*20261120*1415*${number}*X*004010`,
    `ST*${set}*0001`,
    ...segments,
    `SE*${segments.length + 2}*0001`,
    `GE*1*${number}`,
    `IEA*1*${control}`,
    ""
  ].join("~")
}

/** A file whose writer has finished. */
export const put = (folder: string, name: string, text: string) => {
  mkdirSync(join(folder, "inbox"), { recursive: true })
  const path = join(folder, "inbox", name)
  writeFileSync(path, text)
  const before = Date.now() / 1000 - 60
  utimesSync(path, before, before)
}

export const partnerFolder = (root: string, tenantId: string, written: unknown = profile) => {
  const folder = join(root, tenantId, "acme")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "profile.json"), JSON.stringify(written))
  return folder
}

/** A tenant with a partner, and its folder. */
export const makePartner = (written?: unknown) =>
  Effect.map(TestWaybill.tenant(), (tenant) => {
    const root = directory()
    return { tenant, root, folder: partnerFolder(root, tenant.tenantId, written) }
  })

export const reportOf = (folder: string, name: string) => readFileSync(join(folder, `${name}.report.jsonl`), "utf8")

/** Files for the partner that have this set, in the order of their names. */
export const sentTo = (folder: string, set: string): ReadonlyArray<string> =>
  readdirSync(folder).includes("outbox")
    ? readdirSync(join(folder, "outbox")).sort().map((name) => readFileSync(join(folder, "outbox", name), "utf8")).filter((text) => text.includes(`ST*${set}*`))
    : []

/** Segments with this id. */
export const segmentsIn = (texts: ReadonlyArray<string>, id: string): ReadonlyArray<string> => texts.flatMap((text) => text.split("~").map((segment) => segment.trim()).filter((segment) => segment.startsWith(`${id}*`)))
