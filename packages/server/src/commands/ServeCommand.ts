/** `waybill serve`, also the default command. */
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { join } from "node:path"
import { readServerConfig, type ServerConfig } from "../config/ServerConfig.ts"
import { demoClients, demoTenant } from "../demo/DemoSeed.ts"
import { ProcessContext } from "../ProcessContext.ts"
import { loggingLayer } from "../serve/Logging.ts"
import { serve } from "../serve/Serve.ts"
import { telemetryLayer } from "../serve/Telemetry.ts"
import { version } from "../serve/Version.ts"
import { usageError } from "./shared/Outcome.ts"

export const readConfig = Effect.flatMap(ProcessContext, ({ directory, isTerminal, variables }) => readServerConfig({ names: variables, isTerminal, directory }))

/** Logs, traces and metrics, as configured. */
export const observed = (config: ServerConfig) =>
  Layer.provideMerge(
    telemetryLayer({ enabled: config.telemetry, version }),
    Layer.unwrap(Effect.map(ProcessContext, ({ writeError }) =>
      loggingLayer({
        format: config.logFormat,
        level: config.logLevel,
        write: writeError,
        // The demo prints its own line for each write.
        skip: ({ fields, level }) => config.demo && level === "info" && fields["tenant"] === demoTenant && demoClients.has(fields["client"])
      })))
  )

export const runServe = Effect.flatMap(readConfig, (config) => Effect.provide(serve(config), observed(config)))

const runServeWithEdi = Effect.gen(function*() {
  const given = yield* readConfig
  if (!given.demo) return yield* usageError("--edi is for the demo, which is off. Set WAYBILL_EDI_DIR to read EDI files of partners.")
  const config = { ...given, demoEdi: true, ediDir: given.ediDir ?? join(given.dataDir, "edi") }
  return yield* Effect.provide(serve(config), observed(config))
})

export const serveCommand = Command.make(
  "serve",
  { edi: Flag.Boolean("edi").pipe(Flag.withDescription("The carrier of the demo sends its events as EDI files (214) instead of calls"), Flag.withDefault(false)) },
  ({ edi }) => Effect.suspend((): typeof runServeWithEdi => edi ? runServeWithEdi : runServe)
).pipe(
  Command.withDescription("Run the server. This is what happens without a command, too"),
  Command.withExamples([
    { command: "waybill serve", description: "On an embedded Postgres in .waybill, with a demo to look at" },
    { command: "waybill serve --edi", description: "The same, with a carrier that speaks EDI" },
    { command: "WAYBILL_DATABASE_URL=postgres://waybill:…@db/freight waybill serve", description: "On a Postgres of your own" }
  ])
)
