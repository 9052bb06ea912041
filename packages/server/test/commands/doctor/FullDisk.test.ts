import { Effect } from "effect"
import promises from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { expect, it, onTestFinished, vi } from "vitest"
import { ediFinding } from "../../../src/commands/doctor/EdiFindings.ts"
import { documentsFinding } from "../../../src/commands/doctor/ServiceFindings.ts"
import { defaultEdiLimits } from "../../../src/edi/EdiPartners.ts"
import { directory } from "../../program/Program.ts"

it.each([
  ["of documents", (path: string) => documentsFinding({ documents: { kind: "directory", path }, documentsAlso: undefined, s3Endpoint: undefined })],
  ["of EDI files", (path: string) => ediFinding({ ediDir: path, ediLimits: defaultEdiLimits })]
])("names a full disk under the directory %s", async (_, find) => {
  const path = directory()
  const roomy = { bavail: 1000, bsize: 4096, ffree: 10, files: 20 }
  const statfs = vi.spyOn(promises, "statfs")
  syncBuiltinESMExports()
  onTestFinished(() => {
    statfs.mockRestore()
    syncBuiltinESMExports()
  })
  const found = async (disk: Partial<typeof roomy>) => {
    statfs.mockResolvedValue({ ...roomy, ...disk } as never)
    return Effect.runPromise(find(path))
  }
  expect(await found({})).toMatchObject({ result: "ok" })
  expect(await found({ ffree: 0, files: 0 })).toMatchObject({ result: "ok" })
  expect(await found({ bavail: 0 })).toMatchObject({ result: "failed", detail: `the disk of ${path} is full` })
  expect(await found({ ffree: 0 })).toMatchObject({ result: "failed", detail: `the disk of ${path} has no room for another file` })
})
