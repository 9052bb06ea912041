import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { makeDirectory } from "../../src/transports/MakeDirectory.ts"
import { directory } from "../Directory.ts"

describe("a directory", () => {
  it("is created with those above it, once, by any number of callers", async () => {
    const path = join(directory(), "a/b/c")
    expect((await Promise.all(Array.from({ length: 20 }, () => makeDirectory(path, 0o700)))).filter((each) => each)).toHaveLength(1)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(await makeDirectory(path)).toBe(false)
  })

  it("is refused below a file", async () => {
    const path = directory()
    writeFileSync(join(path, "file"), "")
    await expect(makeDirectory(join(path, "file/a"))).rejects.toThrow("EEXIST")
  })

  it.skipIf(process.getuid?.() === 0)("is refused where this user may not write", async () => {
    const path = directory()
    mkdirSync(join(path, "closed"), { mode: 0o500 })
    await expect(makeDirectory(join(path, "closed/a"))).rejects.toThrow("EACCES")
  })

  it.skipIf(!existsSync("/proc/self"))("is refused in /proc, where Node's own function never ends", async () => {
    await expect(makeDirectory("/proc/waybill/a")).rejects.toThrow("ENOENT")
  })
})
