// npm run slices: checks that all areas have the same files in every package, and that the registries of the packages name all of them.
// `npm run slices -- claims` prints what an area with this name lacks.
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { areas } from "./areas.mjs"
import { root } from "./workspace.mjs"

/** What each area has: `*` is a name of its own, `Area` its folder's name in PascalCase. */
const slices = {
  "docs/areas/{area}.md": [""],
  "packages/core/src/{area}": ["index.ts", "{Area}Area.ts", "model/*.ts", "*Errors.ts", "*Store.ts"],
  "packages/http/src/{area}": ["{Area}Area.ts", "{Area}Contract.ts", "{Area}Handlers.ts", "{Area}Failures.ts"],
  "packages/postgres/src/{area}": ["{Area}Area.ts", "*StorePostgres.ts", "*Sql.ts"],
  "packages/testkit/src/{area}": ["{Area}Area.ts", "*StoreMemory.ts", "*Tables.ts", "*Samples.ts"],
  "packages/conformance/src/{area}": ["{Area}AreaSuite.ts", "*StoreSuite.ts"],
  "packages/conformance/src/api/{area}": ["*Rules.ts", "*Shapes.ts"],
  "packages/client/src/{area}": ["index.ts", "{Area}Client.ts"]
}

/** Files that compose all areas, and what they say of each. */
const registries = {
  "packages/core/src/Areas.ts": "./{area}/{Area}Area.ts",
  "packages/core/package.json": "./dist/{area}/index.js",
  "packages/http/src/Areas.ts": "./{area}/{Area}Area.ts",
  "packages/http/src/shared/ProblemOf.ts": "../{area}/{Area}Failures.ts",
  "packages/postgres/src/Areas.ts": "./{area}/{Area}Area.ts",
  "packages/testkit/src/Areas.ts": "./{area}/{Area}Area.ts",
  "packages/conformance/src/suites.ts": "./{area}/{Area}AreaSuite.ts",
  "packages/conformance/src/api/Rules.ts": "./{area}/",
  "packages/client/src/index.ts": "./{area}/index.ts",
  "docs/README.md": "areas/{area}.md"
}

const named = (text, area) => text.replaceAll("{area}", area).replaceAll("{Area}", area.split("-").map((word) => word[0].toUpperCase() + word.slice(1)).join(""))

const faultsOf = (area) => [
  ...Object.entries(slices).flatMap(([folder, patterns]) =>
    patterns.map((pattern) => named(pattern === "" ? folder : `${folder}/${pattern}`, area)).filter((path) => globSync(path, { cwd: root }).length === 0).map((path) => `${path} is missing`)),
  ...Object.entries(registries).flatMap(([file, mention]) =>
    readFileSync(join(root, file), "utf8").includes(named(mention, area)) ? [] : [`${file} does not name ${named(mention, area)}`])
]

/** Packages that are not about all areas. */
const partial = new Set(["packages/edi/src"])

/** A folder that one area has in a package, all areas have. */
const unevenFolders = () => {
  const parents = new Set(globSync(`packages/*/src/**/{${areas.join(",")}}`, { cwd: root }).map((path) => path.slice(0, path.lastIndexOf("/"))))
  return [...parents].filter((parent) => !partial.has(parent)).flatMap((parent) => `${parent}/{area}` in slices ? [] : [`${parent} has a folder of an area, which scripts/slices.mjs does not know`])
}

const asked = process.argv.slice(2)
if (asked.length > 0) {
  console.log(asked.flatMap(faultsOf).join("\n"))
  process.exit(0)
}

const faults = [...areas.flatMap(faultsOf), ...unevenFolders()]
// proves that the check looks: an area without a file lacks everything
const all = Object.values(slices).flat().length + Object.keys(registries).length
const found = faultsOf("made-up").length
if (found !== all) faults.push(`An area without any file lacks ${found} things instead of ${all}`)
console.log(`${areas.length} areas with the same ${Object.values(slices).flat().length} kinds of files, in ${Object.keys(registries).length} registries: ${faults.length} faults`)
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
