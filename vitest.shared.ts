import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

/** Only while npm run secrets collects output. */
const setupFiles = process.env["WAYBILL_TEST_OUTPUT"] === undefined ? [] : [fileURLToPath(new URL("./vitest.output.ts", import.meta.url))]

// Packages find each other's sources, so nothing has to be built before a test.
export default defineConfig({
  resolve: { conditions: ["@waybill/source"] },
  ssr: { resolve: { conditions: ["@waybill/source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles,
    // long enough for a property test on a busy machine; a hanging test still fails
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // files of a project share their modules, because loading them for each file takes longer than the tests of most. A test that replaces
    // something global puts it back when it ends, passed or failed
    isolate: false,
    // Vitest leaves one core free. Tests of programs mostly wait for these, so one more file than there are cores runs at once
    maxWorkers: availableParallelism() + 1
  }
})
