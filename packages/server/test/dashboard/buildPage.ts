import { buildPage } from "../../dashboard/build.mjs"

/** Before the tests of this package: the page, where the program looks for it. */
export default async function setup() {
  await buildPage()
}
