import type { Locator, Page } from "playwright-core"
import { eventually } from "../program/Program.ts"
import { visit, type Visit } from "./Chromium.ts"
import { key, type FakeOperatorApi } from "./FakeOperatorApi.ts"

/** Opens a view with a stored key. `controlledClock`: the test controls the page's clock. */
export const openView = async (api: FakeOperatorApi, hash: string, { controlledClock = false, ...options }: Parameters<typeof visit>[1] & { readonly controlledClock?: boolean } = {}): Promise<Visit> => {
  const visited = await visit(api.url, options)
  if (controlledClock) await visited.page.clock.install()
  await visited.context.addInitScript((key) => {
    // A blank page has no storage.
    if (location.protocol !== "about:") sessionStorage.setItem("waybill.operator-key", key)
  }, key)
  await visited.page.goto(`${api.url}${api.prefix}/dashboard/${hash}`)
  return visited
}

/** Advances the clock of a page until it shows this. */
export const advanceUntil = async (page: Page, shown: Locator | (() => Promise<boolean> | boolean)): Promise<void> => {
  const isThere = typeof shown === "function" ? shown : async () => await shown.count() > 0
  await eventually(async () => {
    await page.clock.runFor(1_000)
    return await isThere() || undefined
  }, { what: () => `${typeof shown === "function" ? shown : shown.toString()}` })
}
