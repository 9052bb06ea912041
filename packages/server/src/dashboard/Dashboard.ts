/** Serves the dashboard below `/dashboard`, which gets its data from the operator API. */
import { Effect } from "effect"
import { builtPage, guardedHeaders, readPage, staticPage } from "./StaticPage.ts"

/** Reads the built page into memory. If it was not built, logs how to build it and returns `undefined`. */
export const openDashboard = Effect.fnUntraced(function*(directory = builtPage("dashboard")) {
  const files = yield* Effect.promise(() => readPage(directory))
  if (files.has("index.html")) return staticPage(files, { root: "/dashboard", what: "The dashboard", headers: guardedHeaders(), sharesPath: false })
  yield* Effect.logWarning("Dashboard not available: its page was not built. Run npm run build, or start with npm start, which builds it; or set WAYBILL_DASHBOARD=off.")
  return undefined
})
