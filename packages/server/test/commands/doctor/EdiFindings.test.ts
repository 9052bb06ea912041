import { Effect } from "effect"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { ediFinding } from "../../../src/commands/doctor/EdiFindings.ts"
import { defaultEdiLimits } from "../../../src/edi/EdiPartners.ts"
import { partnerFolder } from "../../edi/EdiFolder.ts"
import { directory } from "../../program/Program.ts"

const found = (ediDir: string) => Effect.runPromise(ediFinding({ ediDir, ediLimits: { ...defaultEdiLimits, maxWaitingFiles: 2 } }))

it("names an outbox that is full, and one that cannot be read", async () => {
  const root = directory()
  const outbox = join(partnerFolder(root, "acme"), "outbox")
  expect(await found(root)).toMatchObject({ result: "ok", detail: `1 partner in ${root}` })
  mkdirSync(outbox)
  writeFileSync(join(outbox, "1.edi"), "")
  expect(await found(root)).toMatchObject({ result: "ok" })
  writeFileSync(join(outbox, "2.edi"), "")
  expect(await found(root)).toMatchObject({ result: "failed", detail: expect.stringContaining(`${outbox} is full: 2 files`) })
  rmSync(outbox, { recursive: true })
  writeFileSync(outbox, "")
  expect(await found(root)).toMatchObject({ result: "failed", detail: expect.stringContaining(`${outbox} cannot be read: ENOTDIR`) })
})
