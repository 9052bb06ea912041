import { describe, expect, it, onTestFinished } from "vitest"
import { rules } from "../../../../src/commands/check/api/Rules.ts"
import { runRules } from "../../../../src/commands/check/api/RunRules.ts"
import { startApi, targetOf } from "./ApiUnderTest.ts"

describe("check --api", { timeout: 120_000 }, () => {
  it("finds every rule of every area kept by this server, and leaves none unchecked", async () => {
    const api = await startApi()
    onTestFinished(() => api.stop())
    const target = await targetOf(api)
    onTestFinished(() => target.callback.close())
    const { results } = await runRules(target, rules)
    const unmet = results.filter(({ status }) => status !== "passed").map(({ answer, detail, id, request, status }) => `${id} ${status}: ${detail}\n${request ?? ""}\n${answer ?? ""}`)
    expect(unmet).toEqual([])
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
  })
})
