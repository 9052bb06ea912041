// Checks that every link within the repository leads to an existing file or directory, and every #anchor to a heading.
import { existsSync, statSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { root } from "../workspace.mjs"
import { anchorsOf } from "./pages.mjs"

/** @returns how many links were checked, and the broken ones */
export const checkLinks = (pages) => {
  const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]))
  const faults = []
  let followed = 0
  for (const { path, prose } of pages) {
    for (const [, target] of prose.replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[()[\]]/g, " ")).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?|mailto):/.test(target)) continue
      followed += 1
      const [file, anchor] = target.split("#")
      const found = file === "" ? path : normalize(join(dirname(path), decodeURI(file)))
      if (found.startsWith("..") || !existsSync(join(root, found))) faults.push(`${path}: ${target} does not exist`)
      else if (anchor !== undefined && !headings(anchors, found).has(anchor)) faults.push(`${path}: there is no heading #${anchor} in ${found}`)
    }
  }
  return { followed, faults }
}

const headings = (anchors, path) => anchors.get(statSync(join(root, path)).isDirectory() ? join(path, "README.md") : path) ?? new Set()

/** Every page is linked from the index, and every decision once, by number, from their own. */
export const checkIndex = (pages) => [...unlisted(pages), ...misplacedDecisions(pages)]

const misplacedDecisions = (pages) => {
  const folder = "docs/decisions/"
  const index = pages.find(({ path }) => path === `${folder}README.md`)
  const listed = Array.from(index.prose.matchAll(/^\| \[\d{4}\]\(([^)]+)\)/gm), ([, file]) => file)
  const expected = pages.filter(({ path }) => path.startsWith(folder) && path !== index.path).map(({ path }) => path.slice(folder.length)).sort()
  return Array.from({ length: Math.max(listed.length, expected.length) }, (_, n) => n)
    .filter((n) => listed[n] !== expected[n])
    .slice(0, 1)
    .map((n) => `${index.path}: row ${n + 1} is ${listed[n] ?? "missing"}, expected is ${expected[n] ?? "no other row"}`)
}

const unlisted = (pages) => {
  const index = pages.find(({ path }) => path === "docs/README.md")
  const linked = Array.from(index.prose.matchAll(/\]\(([^)#\s]+)/g), ([, target]) => normalize(join("docs", target)))
  return pages
    .filter(({ path }) => path.startsWith("docs/") && path !== index.path && !path.startsWith("docs/decisions/"))
    .filter(({ path }) => !linked.includes(path) && !linked.includes(`${dirname(path)}/`) && !linked.includes(dirname(path)))
    .map(({ path }) => `docs/README.md does not link to ${path}`)
}
