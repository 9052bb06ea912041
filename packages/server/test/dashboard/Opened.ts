import type { Locator, Page } from "playwright-core"
import { eventually } from "../program/Program.ts"
import { visit, type Visit } from "./Chromium.ts"
import { key, type StandIn } from "./StandIn.ts"

/** Opens a view with a stored key. `hurried`: the test controls the page's clock. */
export const opened = async (stand: StandIn, hash: string, { hurried = false, ...options }: Parameters<typeof visit>[1] & { readonly hurried?: boolean } = {}): Promise<Visit> => {
  const visited = await visit(stand.url, options)
  if (hurried) await visited.page.clock.install()
  await visited.context.addInitScript((key) => {
    // A blank page has no storage.
    if (location.protocol !== "about:") sessionStorage.setItem("waybill.operator-key", key)
  }, key)
  await visited.page.goto(`${stand.url}${stand.prefix}/dashboard/${hash}`)
  return visited
}

/** Advances the clock of a hurried page until it shows this. */
export const later = async (page: Page, shown: Locator | (() => Promise<boolean> | boolean)): Promise<void> => {
  const isThere = typeof shown === "function" ? shown : async () => await shown.count() > 0
  await eventually(async () => {
    await page.clock.runFor(1_000)
    return await isThere() || undefined
  }, { what: () => `${typeof shown === "function" ? shown : shown.toString()}` })
}
