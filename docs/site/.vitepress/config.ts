/** The site's navigation, by user and task. `scripts/site.mjs` puts the pages into `pages/`. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitepress"

const root = fileURLToPath(new URL("../pages", import.meta.url))

const titleOf = (path: string): string => /^# (.+)$/m.exec(readFileSync(join(root, `${path}.md`), "utf8"))![1]!

const pages = (...paths: ReadonlyArray<string>) => paths.map((path) => ({ text: titleOf(path), link: `/${path}` }))

const folder = (name: string) =>
  pages(...readdirSync(join(root, name)).filter((file) => file !== "index.md").sort().map((file) => `${name}/${file.replace(/\.md$/, "")}`))

export default defineConfig({
  title: "Waybill",
  description: "Freight's five JSON interfaces: library, server and test kit",
  srcDir: "pages",
  outDir: "dist",
  cleanUrls: true,
  // files beside the pages, which scripts/site.mjs copies; the check takes those with unusual extensions for pages
  ignoreDeadLinks: [/^\.\/deploy\//],
  // names of all pages once, instead of in each of a thousand pages
  metaChunk: true,
  // the index of the search is one large file, read when somebody searches
  vite: { build: { chunkSizeWarningLimit: 8_000 } },
  // a generic such as Array<string> in prose is text, not an element
  markdown: { html: false },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Embed", link: "/start-embedding" },
      { text: "Operate", link: "/start-operating" },
      { text: "Test", link: "/testing" },
      { text: "API", link: "/api/" }
    ],
    sidebar: [
      { text: "Embed Waybill", items: pages("start-embedding", "embedding", "effect", "separate-workers", "deploys", "upgrades", "publish-from-sql", "ports") },
      { text: "Operate the server", items: [...pages("start-operating", "operating/index"), ...folder("operating"), ...pages("commands", "dashboard", "on-call", "log-lines", "capacity", "chaos")] },
      { text: "Test with Waybill", items: pages("testing", "conformance", "hostile-receiver", "simulation", "proof") },
      { text: "Areas", items: folder("areas") },
      { text: "Webhook delivery", items: pages("delivery", "receive-webhooks", "portal") },
      { text: "EDI", items: pages("edi") },
      { text: "Security", items: pages("security", "threat-model") },
      { text: "Reference", items: [{ text: "API of the packages", link: "/api/" }, ...pages("guarantees", "errors", "glossary", "spec-gaps", "comparison")] },
      { text: "Decisions", collapsed: true, items: folder("decisions") }
    ]
  }
})
