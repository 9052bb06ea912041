/** Text that is printed to a terminal after the start. */
import { Console, Effect } from "effect"
import { join, relative } from "node:path"
import { operatorKeyFile } from "../config/DataDir.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"

/** Printed only for people; the log contains the same for machines. */
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

/** The path relative to the working directory. */
export const shortPath = (path: string): string => {
  const near = relative(process.cwd(), path)
  return near.startsWith("..") ? path : near
}
