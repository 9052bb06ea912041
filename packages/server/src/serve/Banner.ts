/** What a person reads after the start. */
import { Console, Effect } from "effect"
import { join, relative } from "node:path"
import { operatorKeyFile } from "../config/DataDir.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"

/** Only for people; the log says the same to machines. */
export const plainBanner = (config: ServerConfig, url: string, adminUrl: string): Effect.Effect<void> =>
  config.logFormat === "json"
    ? Effect.void
    : Console.log([
      "",
      `  Waybill answers on ${url}  (docs: ${adminUrl}/docs)`,
      ...(config.admin === undefined ? [] : [`  Operators use ${adminUrl}`]),
      ...(hasDashboard(config) ? [`  The dashboard is at ${adminUrl}/dashboard`] : []),
      ...(config.operatorKeys === undefined ? [`  The operator key is in ${shortPath(join(config.dataDir, operatorKeyFile))}`] : []),
      ""
    ].join("\n"))

export const hasDashboard = ({ dashboard, role }: Pick<ServerConfig, "dashboard" | "role">): boolean => dashboard && role !== "worker"

/** As somebody in this directory would write it. */
export const shortPath = (path: string): string => {
  const near = relative(process.cwd(), path)
  return near.startsWith("..") ? path : near
}
