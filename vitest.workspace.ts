import { defineConfig } from "vitest/config"

/** Projects have the root of all, because Vitest keeps what it transformed by root: each project with its own would transform the same sources again. */
const shared = { extends: "./vitest.shared.ts" } as const

/** Projects with services of other packages check their responses against the OpenAPI document. */
const openApi = { setupFiles: ["./packages/http/test/openapi/shareDescriptions.ts"] }

/** Projects that ask for it get `inject("pgUrl")`: one Postgres for the whole run, see vitest.postgres.ts. */
const postgres = { globalSetup: ["./vitest.postgres.ts"] }

/** `npm run citus`: one file after the other, because some stop a node of the cluster. */
const citus = {
  ...shared,
  test: {
    name: "citus",
    dir: "./packages",
    include: ["postgres/test/citus/*.test.ts", "server/test/citus/*.test.ts"],
    setupFiles: ["./packages/http/test/openapi/shareDescriptions.ts"],
    globalSetup: ["./vitest.postgres.ts", "./packages/server/test/program/buildProgram.ts"],
    fileParallelism: false
  }
}

export default defineConfig({
  test: {
    reporters: ["default", "./vitest.next-steps.ts"],
    // a file that passed is one line; tests are listed where they took long
    slowTestThreshold: 5_000,
    projects: [
      { ...shared, test: { name: "core", dir: "./packages/core" } },
      { ...shared, test: { name: "http", dir: "./packages/http" } },
      { ...shared, test: { name: "postgres", dir: "./packages/postgres", exclude: ["test/citus/**"], ...postgres, globalSetup: [...postgres.globalSetup, "./packages/postgres/test/host/prisma/generateClient.ts"] } },
      { ...shared, test: { name: "testkit", dir: "./packages/testkit", ...openApi } },
      // its mutants wait at the same time for what does not come
      { ...shared, test: { name: "conformance", dir: "./packages/conformance", ...openApi, maxConcurrency: 10 } },
      { ...shared, test: { name: "simulation", dir: "./simulation" } },
      { ...shared, test: { name: "client", dir: "./packages/client", ...postgres, ...openApi } },
      { ...shared, test: { name: "edi", dir: "./packages/edi", ...openApi } },
      { ...shared, test: { name: "server", dir: "./packages/server", ...postgres, ...openApi, globalSetup: [...postgres.globalSetup, "./packages/server/test/dashboard/buildPage.ts", "./packages/server/test/program/buildProgram.ts"], exclude: ["test/chaos/**", "test/citus/**"] } },
      ...(process.env["WAYBILL_CITUS_URL"] ? [citus] : []),
      // runs alone after all others, because it needs the whole machine
      { ...shared, test: { name: "chaos", dir: "./packages/server/test/chaos", include: ["*.test.ts"], sequence: { groupOrder: 1 } } }
    ]
  }
})
