import type { Locator, Page } from "playwright-core"
import { eventually } from "../program/Program.ts"
import { visit, type Visit } from "./Chromium.ts"
import { type FakeOperatorApi, key, startFakeApi } from "./FakeOperatorApi.ts"

interface ViewOptions extends NonNullable<Parameters<typeof visit>[1]> {
  /** One that the test has prepared. */
  readonly api?: FakeOperatorApi
  /** The test controls the page's clock. */
  readonly controlledClock?: boolean
}

/** Opens a view of an operator API with a stored key. */
export const openView = async (hash: string, { api: prepared, controlledClock = false, ...options }: ViewOptions = {}): Promise<Visit & { readonly api: FakeOperatorApi }> => {
  const api = prepared ?? await startFakeApi()
  const visited = await visit(api.url, options)
  if (controlledClock) await visited.page.clock.install()
  await visited.context.addInitScript((key) => {
    // A blank page has no storage.
    if (location.protocol !== "about:") sessionStorage.setItem("waybill.operator-key", key)
  }, key)
  await visited.page.goto(`${api.url}${api.prefix}/dashboard/${hash}`)
  return { ...visited, api }
}

/** Advances the clock of a page until it shows this. */
export const advanceUntil = async (page: Page, shown: Locator | (() => Promise<boolean> | boolean)): Promise<void> => {
  const isThere = typeof shown === "function" ? shown : async () => await shown.count() > 0
  await eventually(async () => {
    await page.clock.runFor(1_000)
    return await isThere() || undefined
  }, { what: () => `${typeof shown === "function" ? shown : shown.toString()}` })
}
