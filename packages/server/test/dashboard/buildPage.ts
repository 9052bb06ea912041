import { buildPages } from "../../dashboard/build.mjs"

/** Builds the pages before the tests of this package, where the program looks for them. */
export default async function setup() {
  await buildPages()
}
