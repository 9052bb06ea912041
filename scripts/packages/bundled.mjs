// Packages of others whose code the build copies into `dist`: noExternal in tsup.config.ts, and the dashboard's page.
import { bundled as inDashboard } from "../../packages/server/dashboard/build.mjs"

export const bundledIn = {
  "@waybill/postgres": ["@effect/sql-pg"],
  waybill: ["@effect/platform-node", "@effect/platform-node-shared", ...inDashboard]
}
