// node scripts/packages/image-sbom.mjs <file>: writes the SBOM (CycloneDX 1.6, JSON) of the container image, which contains every package and Node. The base
// image's operating system has its own.
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../workspace.mjs"
import { bundledIn } from "./bundled.mjs"
import { lockedPackages, sbomOf, withSerialNumber } from "./sbom.mjs"

/** `npm ci` installs this optional peer, because the lock file has it. */
const alongside = { waybill: ["@aws-sdk/client-s3"] }

/** Removed from the image, because a container is given a database. */
const removed = /^pkg:npm\/%40embedded-postgres\//

export function imageSbom() {
  const locked = lockedPackages()
  const sboms = readdirSync(join(root, "packages")).map((name) => `packages/${name}`).map((path) => sbomOf(locked, path, bundledIn[locked[path].name], alongside[locked[path].name]))
  const server = sboms.find(({ metadata }) => metadata.component.name === "waybill")
  const { version } = server.metadata.component
  const image = { type: "container", "bom-ref": `waybill-image@${version}`, name: "waybill", version }
  const own = sboms.map(({ metadata }) => metadata.component)
  const components = new Map(sboms.flatMap((sbom) => sbom.components).map((each) => [each["bom-ref"], each]))
  const dependencies = new Map(sboms.flatMap((sbom) => sbom.dependencies).map((each) => [each.ref, each.dependsOn]))
  // a Waybill package is the component of its own SBOM and a dependency in others
  for (const each of own) components.set(each["bom-ref"], each)
  return withSerialNumber({
    ...server,
    metadata: { ...server.metadata, component: image },
    components: [node, ...[...components.values()].filter(({ purl }) => !removed.test(purl)).sort(byRef)],
    dependencies: [
      { ref: image["bom-ref"], dependsOn: [node["bom-ref"], ...own.map((each) => each["bom-ref"])].sort() },
      ...[...dependencies].filter(([ref]) => !removed.test(ref)).map(([ref, dependsOn]) => ({ ref, dependsOn: dependsOn.filter((each) => !removed.test(each)) })).sort((a, b) => a.ref < b.ref ? -1 : 1)
    ]
  })
}

/** The build stage of the image runs on the same Node as the image. */
const nodePurl = `pkg:generic/node@${process.versions.node}`
const node = { type: "platform", "bom-ref": nodePurl, name: "node", version: process.versions.node, licenses: [{ license: { id: "MIT" } }], purl: nodePurl }

const byRef = (a, b) => a["bom-ref"] < b["bom-ref"] ? -1 : 1

if (process.argv[1] === import.meta.filename) writeFileSync(process.argv[2], `${JSON.stringify(imageSbom(), null, 2)}\n`)
