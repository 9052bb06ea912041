/** A real browser for the dashboard tests. `CHROMIUM_PATH` is its location; default: the usual locations of distributions, of its form without a screen first, which takes half the processor time. */
import { existsSync } from "node:fs"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { afterAll, onTestFinished } from "vitest"

const places = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium"
]

const found = process.env["CHROMIUM_PATH"] ?? places.find((place) => existsSync(place))

/** Without a browser these tests are skipped; in CI that is a failure. */
export const noBrowser = found === undefined && !process.env["CI"]
if (noBrowser) process.stderr.write("The dashboard's page is not tested: there is no Chromium. Install one, or name it in CHROMIUM_PATH.\n")

let browser: Promise<Browser> | undefined

const launched = (): Promise<Browser> => {
  if (found === undefined) throw new Error("There is no Chromium, and CI does not go without: .ci/run installs it where it may.")
  // Chromium has no sandbox as root or in a container, and it only loads test pages; a container's /dev/shm may be
  // tiny.
  return browser ??= chromium.launch({ executablePath: found, chromiumSandbox: false, args: ["--disable-dev-shm-usage"] })
}

/** For each file that visits something. A hook of this module would be one of the first file that loads it, and of no other. */
export const closeBrowserAfterwards = (): void =>
  afterAll(async () => {
    const launched = browser
    browser = undefined
    await (await launched)?.close()
  })

/** Events that must not happen on a page. */
interface Violations {
  /** Dialogs, injected scripts, policy violations, page errors, and requests to other origins. */
  readonly seen: ReadonlyArray<string>
}

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  readonly violations: Violations
}

/** A new tab, closed at the end of the test. It may send requests to `origin` only. */
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
  return { page, context, violations: { seen } }
}
