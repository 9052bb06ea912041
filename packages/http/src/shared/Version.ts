/** An import, and not read at run time, because a bundle of a host runs without this package's folder. */
import manifest from "../../package.json" with { type: "json" }

/** The version of this package. */
export const { version }: { readonly version: string } = manifest
