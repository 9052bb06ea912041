// npm run gaps: checks that docs/spec-gaps.md and the code name the same open points. A point is `SPEC-GAP-<id>` in a source and in a
// test, and a row whose first column is the id in the table.
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const page = "docs/spec-gaps.md"

const listed = readFileSync(join(root, page), "utf8").split("\n").flatMap((line) => /^\|\s*`?([A-Z]+\d+[a-z]?)`?\s*\|/.exec(line)?.[1] ?? [])
const sources = new Map()
const tests = new Map()
for (const file of globSync("packages/*/{src,test}/**/*.ts", { cwd: root })) {
  // the sources of these packages are suites
  const into = /^packages\/(?:[^/]+\/test|conformance|testkit)\//.test(file.replaceAll("\\", "/")) ? tests : sources
  for (const [, id] of readFileSync(join(root, file), "utf8").matchAll(/\bSPEC-GAP-([A-Z]+\d+[a-z]?)\b/g)) into.set(id, file)
}

const complaints = [
  ...listed.filter((id, at) => listed.indexOf(id) !== at).map((id) => `${page} lists ${id} twice`),
  ...[...sources, ...tests].filter(([id]) => !listed.includes(id)).map(([id, file]) => `${file} mentions SPEC-GAP-${id}, which ${page} does not list`),
  ...listed.filter((id) => !sources.has(id)).map((id) => `${page} lists ${id}, but no source mentions SPEC-GAP-${id}`),
  ...listed.filter((id) => !tests.has(id)).map((id) => `${page} lists ${id}, but no test mentions SPEC-GAP-${id}`)
]
if (complaints.length > 0) {
  console.error(complaints.join("\n"))
  process.exit(1)
}
console.log(`${listed.length} open points, all named by a source and a test`)
