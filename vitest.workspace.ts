import { defineConfig } from "vitest/config"

const shared = { extends: "./vitest.shared.ts" } as const

/** Projects with services of other packages check their responses against the OpenAPI document. */
const openApi = { setupFiles: ["../http/test/openapi/shareDescriptions.ts"] }

/** Projects that ask for it get `inject("pgUrl")`: one Postgres for the whole run, see vitest.postgres.ts. */
const postgres = { globalSetup: ["../../vitest.postgres.ts"] }

/** `npm run citus`: one file after the other, because some stop a node of the cluster. */
const citus = {
  ...shared,
  test: {
    name: "citus",
    root: "./packages",
    include: ["postgres/test/citus/*.test.ts", "server/test/citus/*.test.ts"],
    setupFiles: ["./http/test/openapi/shareDescriptions.ts"],
    globalSetup: ["../vitest.postgres.ts", "./server/test/program/buildProgram.ts"],
    fileParallelism: false
  }
}

export default defineConfig({
  test: {
    reporters: ["default", "./vitest.next-steps.ts"],
    // a file that passed is one line; tests are listed where they took long
    slowTestThreshold: 5_000,
    projects: [
      { ...shared, test: { name: "core", root: "./packages/core" } },
      { ...shared, test: { name: "http", root: "./packages/http" } },
      { ...shared, test: { name: "postgres", root: "./packages/postgres", exclude: ["test/citus/**"], ...postgres, globalSetup: [...postgres.globalSetup, "./test/host/prisma/generateClient.ts"] } },
      { ...shared, test: { name: "testkit", root: "./packages/testkit", ...openApi } },
      // its mutants wait at the same time for what does not come
      { ...shared, test: { name: "conformance", root: "./packages/conformance", ...openApi, maxConcurrency: 10 } },
      { ...shared, test: { name: "simulation", root: "./simulation" } },
      { ...shared, test: { name: "client", root: "./packages/client", ...postgres, ...openApi } },
      { ...shared, test: { name: "edi", root: "./packages/edi", ...openApi } },
      { ...shared, test: { name: "server", root: "./packages/server", ...postgres, ...openApi, globalSetup: [...postgres.globalSetup, "./test/dashboard/buildPage.ts", "./test/program/buildProgram.ts"], exclude: ["test/chaos/**", "test/citus/**"] } },
      ...(process.env["WAYBILL_CITUS_URL"] ? [citus] : []),
      // runs alone after all others, because it needs the whole machine
      { ...shared, test: { name: "chaos", root: "./packages/server/test/chaos", include: ["*.test.ts"], sequence: { groupOrder: 1 } } }
    ]
  }
})
