import { createRequire } from "node:module"

const manifest = createRequire(import.meta.url)("waybill/package.json") as { readonly version: string }

/** Version of this program. */
export const version: string = manifest.version
