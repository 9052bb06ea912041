import { buildPage } from "../../dashboard/build.mjs"

/** Builds the page before the tests of this package, where the program looks for it. */
export default async function setup() {
  await buildPage()
}
