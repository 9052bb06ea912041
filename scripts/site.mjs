// npm run site: docs/ and the API reference of the packages as a site with search, in docs/site/dist.
//
// The site's tools have a separate lock file in docs/site, so `npm ci` does not install them. WAYBILL_REPOSITORY_URL, such as
// https://github.com/you/waybill/blob/main, is where links to sources lead; without it they are plain text.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { spawnSync } from "node:child_process"
import { dirname, join, posix } from "node:path"
import { root } from "./workspace.mjs"

const site = join(root, "docs/site")
const repository = process.env.WAYBILL_REPOSITORY_URL

const run = (command, ...args) => {
  const { status } = spawnSync(command, args, { cwd: site, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

/** Removes comments of the docs check. Links to files outside docs/ go to the repository, or become plain text. */
const asPage = (path, text) =>
  text.replaceAll(/^<!--[^]*?-->\n/gm, "").replaceAll(/(?<!!)\[([^\]]*)\]\((\.\.?\/[^)\s]*)\)/g, (link, words, target) => {
    const file = posix.normalize(posix.join(posix.dirname(path), target.replace(/#.*$/, "")))
    if (file.startsWith("docs/") && file.endsWith(".md")) return link
    return repository === undefined ? words : `[${words}](${repository}/${file})`
  })

const copyPages = () => {
  rmSync(join(site, "pages"), { recursive: true, force: true })
  for (const path of globSync(["docs/*.md", "docs/areas/*.md", "docs/operating/*.md", "docs/decisions/*.md", "docs/deploy/helm/*/*.md"], { cwd: root })) {
    const page = join(site, "pages", posix.relative("docs", path).replace(/(^|\/)README\.md$/, "$1index.md"))
    mkdirSync(dirname(page), { recursive: true })
    writeFileSync(page, asPage(path, readFileSync(join(root, path), "utf8")).replaceAll(/(\]\((?:[^)\s]*\/)?)README\.md/g, "$1index.md"))
  }
  // its README is a page already, and a second one in another place has dead links
  cpSync(join(root, "docs/deploy"), join(site, "pages/public/deploy"), { recursive: true, dereference: true, filter: (path) => !path.endsWith(".md") })
}

if (!existsSync(join(site, "node_modules"))) run("npm", "ci", "--no-audit", "--no-fund")
copyPages()
run("npx", "typedoc")
run("npx", "vitepress", "build")
console.log("The site is in docs/site/dist.")
