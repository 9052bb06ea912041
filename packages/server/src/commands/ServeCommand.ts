/** `waybill serve`, also the default command. */
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { readServerConfig, type ServerConfig } from "../config/ServerConfig.ts"
import { demoClients, demoTenant } from "../demo/DemoSeed.ts"
import { loggingLayer } from "../serve/Logging.ts"
import { serve } from "../serve/Serve.ts"
import { telemetryLayer } from "../serve/Telemetry.ts"
import { version } from "../serve/Version.ts"

export const readConfig = Effect.suspend(() =>
  readServerConfig({
    names: Object.keys(process.env),
    isTerminal: process.stderr.isTTY === true,
    directory: process.cwd()
  }))

/** Logs, traces and metrics, as configured. */
export const observed = (config: ServerConfig) =>
  Layer.mergeAll(
    loggingLayer({
      format: config.logFormat,
      level: config.logLevel,
      // The demo prints its own line for each write.
      skip: ({ fields, level }) => level === "info" && fields["tenant"] === demoTenant && demoClients.has(fields["client"])
    }),
    telemetryLayer({ enabled: config.telemetry, version })
  )

export const runServe = Effect.flatMap(readConfig, (config) => Effect.provide(serve(config), observed(config)))

export const serveCommand = Command.make("serve", {}, () => runServe).pipe(
  Command.withDescription("Run the server. This is what happens without a command, too"),
  Command.withExamples([
    { command: "waybill serve", description: "On an embedded Postgres in .waybill, with a demo to look at" },
    { command: "WAYBILL_DATABASE_URL=postgres://waybill:…@db/freight waybill serve", description: "On a Postgres of your own" }
  ])
)
