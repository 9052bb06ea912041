import { areas } from "./scripts/areas.mjs"

// Who may import whom. `npm run boundaries` checks it, and checks with a canary per rule that the rule still sees.
const area = areas.join("|")

// what composes areas
const composed = "intake|journey|operator"

// type-only imports do not exist at run time
const atRunTime = { dependencyTypesNot: ["type-only"] }

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    {
      name: "core-depends-on-nothing",
      severity: "error",
      comment: "Every adapter depends on core; core may import itself and effect, nothing else, not even what Node brings along.",
      from: { path: "^packages/core/src/" },
      to: { pathNot: "^packages/core/src/|node_modules/effect/" }
    },
    {
      name: "adapters-do-not-meet",
      severity: "error",
      comment: "http and postgres know core, never each other. What both need belongs into core.",
      from: { path: "^packages/(http|postgres)/src/" },
      to: { path: "^packages/(http|postgres)/", pathNot: "^packages/$1/" }
    },
    {
      name: "testkit-needs-no-database",
      severity: "error",
      comment: "The test kit is the service in memory: it takes the methods and handlers from http, and has storage of its own.",
      from: { path: "^packages/testkit/src/" },
      to: { path: "^packages/postgres/" }
    },
    {
      name: "adapters-know-only-core",
      severity: "error",
      comment: "The direction is server → http, postgres, client → core → effect, and testkit → http.",
      from: { path: "^packages/(http|postgres|testkit)/src/" },
      to: { path: "^packages/(client|conformance|server)/" }
    },
    {
      name: "client-runs-anywhere",
      severity: "error",
      comment: "The client has no dependency at run time, neither on core nor on Node; it may know core's types.",
      from: { path: "^packages/client/src/" },
      to: { pathNot: "^packages/client/src/", ...atRunTime }
    },
    {
      name: "client-knows-only-types-of-core",
      severity: "error",
      comment: "The direction is server → http, postgres, client → core → effect.",
      from: { path: "^packages/client/src/" },
      to: { path: "^packages/(http|postgres|testkit|conformance|server)/" }
    },
    {
      name: "conformance-checks-any-implementation",
      severity: "error",
      comment: "An adapter author installs the suites without our adapters, and the program installs the rules without the test kit.",
      from: { path: "^packages/conformance/src/" },
      to: { path: "^packages/(http|postgres|testkit|edi|server)/" }
    },
    {
      name: "edi-knows-only-core",
      severity: "error",
      comment: "The EDI bridge gives its results to functions that the host names: methods, a client, or its own. It knows the areas' types from core.",
      from: { path: "^packages/edi/src/" },
      to: { path: "^packages/(http|postgres|testkit|conformance|client|server)/" }
    },
    {
      name: "x12-knows-no-freight",
      severity: "error",
      comment: "x12/ reads and writes segments and envelopes; mapping/ and the transaction sets come after it.",
      from: { path: "^packages/edi/src/x12/" },
      to: { pathNot: "^packages/edi/src/x12/" }
    },
    {
      name: "areas-are-strangers",
      severity: "error",
      comment: "An area may use shared/, access/ and delivery/, never another area. intake/, journey/ and operator/ compose areas. Suites check storage, which spans areas.",
      from: { path: `^packages/[^/]+/src/(${area})/`, pathNot: "^packages/conformance/src/.+Suite\\.ts$" },
      to: { path: `^packages/[^/]+/src/(${area}|${composed})/`, pathNot: "^packages/[^/]+/src/$1/" }
    },
    {
      name: "engine-knows-no-area",
      severity: "error",
      comment: "delivery/ carries bytes, access/ says who is calling; if they need to know what is carried, the design is wrong.",
      from: { path: "^packages/[^/]+/src/(delivery|access)/" },
      to: { path: `^packages/[^/]+/src/(${area}|${composed})/` }
    },
    {
      name: "shared-knows-nobody",
      severity: "error",
      comment: "shared/ is below everything else. The table of all failures and the suite of transactions name every area.",
      from: { path: "^packages/[^/]+/src/shared/", pathNot: "^packages/(http/src/shared/ProblemOf|conformance/src/shared/TransactionSuite)\\.ts$" },
      to: { path: `^packages/[^/]+/src/(${area}|${composed}|delivery|access)/` }
    },
    {
      name: "models-know-only-models",
      severity: "error",
      comment: "model/ holds data and pure decisions; ports and services come after it. Areas.ts has the type of their names.",
      from: { path: "^packages/core/src/[^/]+/model/" },
      to: { pathNot: "^packages/core/src/([^/]+/model/|shared/|Areas\\.ts$)|node_modules/effect/" }
    },
    {
      name: "errors-know-only-models",
      severity: "error",
      comment: "An error that needs a service is a decision in the wrong place.",
      from: { path: "^packages/core/src/[^/]+/[^/]+Errors\\.ts$" },
      to: { pathNot: "^packages/core/src/([^/]+/model|shared)/|node_modules/effect/" }
    },
    {
      name: "ports-know-no-service",
      severity: "error",
      comment: "A port is asked, it does not ask.",
      from: { path: "^packages/core/src/.+(Store|Queue|Sender)\\.ts$" },
      to: { pathNot: "^packages/core/src/([^/]+/model|shared)/|(Errors|Store|Queue|Sender)\\.ts$|node_modules/effect/" }
    },
    {
      name: "production-never-imports-tests",
      severity: "error",
      comment: "The test kit must not end up in anybody's program.",
      from: { path: "^packages/(core|http|postgres|client|edi|server)/src/" },
      to: { path: "^packages/testkit/|^packages/conformance/src/(suites|fixtures|hostile)\\.ts$|^packages/[^/]+/test/|node_modules/(vitest|@vitest|@effect/vitest)/" }
    },
    {
      name: "only-suites-know-vitest",
      severity: "error",
      comment: "The test kit and the rules run without a test framework; conformance suites (*Suite.ts) are the only files that need one.",
      from: { path: "^packages/(testkit|conformance)/src/", pathNot: "Suite\\.ts$" },
      to: { path: "node_modules/(vitest|@vitest|@effect/vitest)/" }
    },
    {
      name: "suites-have-their-own-entry",
      severity: "error",
      comment: "`@waybill/conformance` must load where vitest is not installed; suites are imported from `@waybill/conformance/suites`.",
      from: { path: "^packages/conformance/src/", pathNot: "Suite\\.ts$|/suites\\.ts$" },
      to: { path: "^packages/conformance/src/.*(Suite|/suites)\\.ts$" }
    },
    {
      name: "testkit-needs-no-machine",
      severity: "error",
      comment: "The test kit runs in memory: no port, no file, no process. Hashes, and timers that no test replaces, are all it may take from Node.",
      from: { path: "^packages/testkit/src/" },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?(crypto|timers)$" }
    },
    {
      name: "hostile-receivers-have-their-own-entry",
      severity: "error",
      comment: "Hostile receivers are imported from `@waybill/conformance/hostile`; nothing else of the package needs them.",
      from: { path: "^packages/conformance/src/", pathNot: "^packages/conformance/src/(hostile-receiver/|hostile\\.ts$)" },
      to: { path: "^packages/conformance/src/(hostile-receiver/|hostile\\.ts$)" }
    },
    {
      name: "page-runs-in-a-browser",
      severity: "error",
      comment: "The dashboard's page imports the client and its bundled dependencies only; it gets all other data by calls to the server.",
      from: { path: "^packages/server/dashboard/.+\\.tsx?$" },
      to: { pathNot: "^packages/server/dashboard/|^packages/client/src/|node_modules/preact/" }
    },
    {
      name: "program-reads-the-page-as-files",
      severity: "error",
      comment: "The dashboard's page is built for a browser; the program hands out what was built.",
      from: { path: "^packages/[^/]+/src/" },
      to: { path: "^packages/server/dashboard/" }
    },
    {
      // migrations/index.ts is no barrel but the list of migrations
      name: "barrels-are-for-outsiders",
      severity: "error",
      comment: "index.ts is for other packages; inside the package import the file that declares the name.",
      from: { path: "^packages/([^/]+)/src/", pathNot: "index\\.ts$" },
      to: { path: "^packages/$1/src/.*index\\.ts$", pathNot: "/migrations/index\\.ts$" }
    },
    {
      name: "dependencies-are-declared",
      severity: "error",
      comment: "A package declares what its src imports at run time, else it is missing where the package is installed. The build redirects effect to core's copy, and copies the two packages that have it as a peer (docs/decisions/0035).",
      from: { path: "^packages/[^/]+/src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["type-only", "npm-peer"],
        pathNot: "(^|/)node_modules/(effect|@effect/platform-node|@effect/sql-pg)/"
      }
    },
    {
      name: "imports-resolve",
      severity: "error",
      comment: "An import that leads nowhere is also one that no rule can judge.",
      from: {},
      to: { couldNotResolve: true }
    },
    {
      name: "no-cycles",
      severity: "error",
      comment: "A cycle means that two files are one file.",
      from: {},
      to: { circular: true, viaOnly: atRunTime }
    }
  ],
  options: {
    // the only one that parses TypeScript 7 and distinguishes type-only imports
    parser: "swc",
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["@waybill/source", "import", "node", "default"] }
  }
}
