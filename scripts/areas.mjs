// The areas, by the names of their folders: each has a page in docs/areas.
import { readdirSync } from "node:fs"
import { join } from "node:path"

const pages = join(import.meta.dirname, "../docs/areas")

export const areas = readdirSync(pages).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -".md".length)).sort()
