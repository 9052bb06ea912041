import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { EdiProblems } from "../../src/edi/EdiProblems.ts"

it("logs once that a hidden file cannot be written, whose name is another one at each try", async () => {
  const problems = new EdiProblems()
  const lines: Array<string> = []
  const fails = (reason: string) =>
    Effect.runPromise(problems.logged("214", Effect.fail(new Error(`${reason}, open '/edi/.000000004.${randomUUID()}.tmp'`)), () => Effect.sync(() => void lines.push(reason))))
  for (const reason of ["ENOSPC", "ENOSPC", "EROFS", "EROFS"]) await fails(reason)
  expect(lines).toEqual(["ENOSPC", "EROFS"])
})
