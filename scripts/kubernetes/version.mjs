// Gives the Helm chart the version of the packages: `npm run version`.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../workspace.mjs"

const file = join(root, "docs/deploy/helm/waybill/Chart.yaml")
const { version } = JSON.parse(readFileSync(join(root, "packages/server/package.json"), "utf8"))
writeFileSync(file, readFileSync(file, "utf8").replaceAll(/^(version|appVersion): .+$/gm, `$1: ${version}`))
