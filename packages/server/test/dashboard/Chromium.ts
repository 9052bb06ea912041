/** A real browser for the page. `CHROMIUM_PATH` says where it is; else it is looked for where distributions put it. */
import { existsSync } from "node:fs"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { afterAll, onTestFinished } from "vitest"

const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium"
]

const found = process.env["CHROMIUM_PATH"] ?? places.find((place) => existsSync(place))

/** Where nobody has a browser the tests of the page are left out; in CI that is a failure. */
export const noBrowser = found === undefined && !process.env["CI"]
if (noBrowser) process.stderr.write("The dashboard's page is not tested: there is no Chromium. Install one, or name it in CHROMIUM_PATH.\n")

let browser: Promise<Browser> | undefined

const launched = (): Promise<Browser> => {
  if (found === undefined) throw new Error("There is no Chromium, and CI does not go without: .ci/run installs it where it may.")
  // neither root nor a container lets Chromium have its sandbox, and all it sees are pages of ours; a container's /dev/shm may be tiny
  return browser ??= chromium.launch({ executablePath: found, chromiumSandbox: false, args: ["--disable-dev-shm-usage"] })
}

afterAll(async () => {
  await (await browser)?.close()
})

/** What must not happen on a page. */
export interface Mischief {
  /** Dialogs, scripts that ran, violations of the policy, errors of the page, requests to anybody else. */
  readonly seen: ReadonlyArray<string>
}

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  readonly mischief: Mischief
}

/** A tab of its own, closed at the end of the test. `origin` is the only one that it may ask. */
export const visit = async (origin: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Visit> => {
  const context = await (await launched()).newContext({ acceptDownloads: true, reducedMotion: "reduce", ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const seen: Array<string> = []
  await context.exposeBinding("tellMischief", (_, what: string) => void seen.push(what))
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => (globalThis as any).tellMischief(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))
    Object.defineProperty(globalThis, "pwned", {
      set: (what) => {
        ;(globalThis as any).tellMischief(`script ran: ${what}`)
      }
    })
  })
  page.on("dialog", (dialog) => {
    seen.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("pageerror", (error) => seen.push(`error: ${error.stack ?? error.message}`))
  context.on("request", (request) => {
    const { origin: asked, protocol } = new URL(request.url())
    if (asked !== origin && protocol !== "data:" && protocol !== "blob:") seen.push(`request: ${request.url()}`)
  })
  context.on("page", (other) => other !== page && seen.push(`opened: ${other.url()}`))
  return { page, context, mischief: { seen } }
}
