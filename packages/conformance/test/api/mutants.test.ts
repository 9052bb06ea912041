import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { rules } from "../../src/api/Rules.ts"
import { runRules } from "../../src/api/RunRules.ts"
import { type Api, basesOf, startApi, targetOf } from "./ApiUnderTest.ts"
import { mutants } from "./Mutants.ts"
import { type MutatingProxy, startMutatingProxy } from "./MutatingProxy.ts"
import type { Mutant } from "./Mutations.ts"

/** What the named rule says of a mutant. */
const verdictOn = async (shared: Api, proxy: MutatingProxy, { rule: id, ...mutation }: Mutant): Promise<string> => {
  const rule = rules.find((each) => each.id === id)
  if (rule === undefined) return `there is no rule ${id}`
  // a window ends when the time of the whole server is moved on
  const endsWindow = rule.needs.includes("hour") || rule.needs.includes("day")
  const api = endsWindow ? await startApi() : shared
  const { bind, receiverUrl, url } = proxy.add({ mutation, serviceUrl: api.url })
  const target = await targetOf(api, { bases: basesOf(url), publicUrl: receiverUrl, waitMillis: 9_000, ...(endsWindow ? { windowMillis: { hourly: 9_000, daily: 9_000 }, onWindowWait: api.endWindow } : {}) })
  bind({ fixtures: target.fixtures, receiverPort: target.callback.port })
  try {
    const { results: [result] } = await runRules(target, [rule])
    return `${result!.status}: ${result!.detail}`
  } finally {
    target.callback.close()
    if (endsWindow) await api.stop()
  }
}

describe("check --api, with one thing broken", { timeout: 120_000, concurrent: true }, () => {
  let api: Api
  let proxy: MutatingProxy
  beforeAll(async () => {
    api = await startApi()
    proxy = await startMutatingProxy()
  })
  afterAll(async () => {
    proxy.close()
    await api.stop()
  })

  it.each(mutants.map((mutant) => [mutant.rule, mutant.name, mutant] as const))("%s finds: %s", async (_, __, mutant) => {
    const verdict = await verdictOn(api, proxy, mutant)
    expect(verdict).toMatch(/^failed: /u)
    expect(verdict).toContain(mutant.seen)
  })
})
