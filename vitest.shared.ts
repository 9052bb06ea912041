import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

/** Only while somebody wants to know what the tests make anybody say. */
const setupFiles = process.env["WAYBILL_TEST_OUTPUT"] === undefined ? [] : [fileURLToPath(new URL("./vitest.output.ts", import.meta.url))]

// Packages find each other's sources, so nothing has to be built before a test.
export default defineConfig({
  resolve: { conditions: ["@waybill/source"] },
  ssr: { resolve: { conditions: ["@waybill/source"] } },
  // what hangs is found; a property on a busy machine may take its time
  test: { include: ["test/**/*.test.ts"], setupFiles, testTimeout: 30_000 }
})
