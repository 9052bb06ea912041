import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/** A directory with these folders until the test is over. */
export const directory = (...folders: ReadonlyArray<string>): string => {
  const path = mkdtempSync(join(tmpdir(), "waybill-edi-"))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const folder of folders) mkdirSync(join(path, folder))
  return path
}
