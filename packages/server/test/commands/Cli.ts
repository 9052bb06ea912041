/** Runs the program's commands, and an in-memory server for them to call. */
import { IntakeClient, OperatorClient, PickupsClient, TransitEventsClient } from "@waybill/client"
import { createWaybill, toNodeHandler, type WaybillOptions } from "@waybill/http"
import { memoryStorage } from "@waybill/testkit"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect } from "effect"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { onTestFinished } from "vitest"
import { runCommandLine } from "../../src/CommandLine.ts"
import { exitCodeOf } from "../../src/commands/shared/Outcome.ts"
import { ProcessContext } from "../../src/ProcessContext.ts"
import { directory, listening, Program, programCommand, urlOf } from "../program/Program.ts"

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command in this process, which costs a hundredth of a process of its own. */
export const run = async (args: ReadonlyArray<string>, { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {}): Promise<Ran> => {
  let [stdout, stderr] = ["", ""]
  const printed = { log: (...parts: ReadonlyArray<unknown>) => stdout += `${parts.join(" ")}\n`, error: (...parts: ReadonlyArray<unknown>) => stderr += `${parts.join(" ")}\n` }
  const command = runCommandLine(args).pipe(
    Effect.provide(NodeServices.layer),
    Effect.provideService(Console.Console, Object.assign(Object.create(console) as Console.Console, printed)),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.provideService(ProcessContext, {
      variables: Object.keys(env),
      directory: tmpdir(),
      isTerminal: false,
      writeOutput: (text) => stdout += text,
      writeError: (line) => stderr += `${line}\n`,
      outputClosed: Effect.never
    })
  )
  const stopped = new AbortController()
  onTestFinished(() => stopped.abort())
  const exit = await Effect.runPromiseExit(command, { signal: stopped.signal })
  globalThis.waybillTestOutput?.ran(args, env, { stdout, stderr })
  return { code: exitCodeOf(exit), stdout, stderr }
}

/** Runs a command to its end in a process of its own, for what only a process shows. */
export const runProcess = (
  args: ReadonlyArray<string>,
  options: { readonly env?: Readonly<Record<string, string>>; readonly input?: string | Uint8Array; readonly cwd?: string } = {}
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    // A home directory without keys of an earlier program.
    const home = directory()
    const command = programCommand()
    const child = spawn(process.execPath, [...command.args, ...args], {
      cwd: options.cwd ?? home,
      env: { PATH: process.env["PATH"] ?? "", HOME: home, ...command.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"]
    })
    onTestFinished(() => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL")
    })
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text)
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, stdout, stderr }))
    // A command that does not read its input may have exited.
    child.stdin.on("error", () => {})
    child.stdin.end(options.input ?? "")
  })

/** Runs a command whose standard output nobody reads, as behind `head`, to its end. */
export const runUnread = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>): Promise<number | null> => {
  const program = start(args, env)
  program.child.stdout!.destroy()
  return (await program.end()).code
}

/** Starts a command that runs until it is stopped. */
export const start = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): Program => new Program({ args, env })

/** Every JSON line on standard output. */
export const jsonLines = (stdout: string): ReadonlyArray<any> => stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))

export const account = "A-1"

/** A server in this process with in-memory storage, a tenant, keys and a secret. */
export const runningServer = async (options: Pick<WaybillOptions<object>, "pickupDesk"> = {}) => {
  const operatorKey = randomBytes(24).toString("hex")
  const waybill = createWaybill({
    storage: memoryStorage(),
    apiKeys: true,
    operatorKeys: [operatorKey],
    sealingKeys: [new Uint8Array(randomBytes(32))],
    egressAllow: ["127.0.0.1"],
    delivery: { pollMillis: 50 },
    log: () => {},
    ...options
  })
  const server = await listening(toNodeHandler(waybill))
  await waybill.start()
  onTestFinished(() => waybill.stop())
  const url = urlOf(server)
  globalThis.waybillOpenApi?.describeServer(url)
  const operator = new OperatorClient({ baseUrl: url, apiKey: operatorKey })
  await operator.putTenant("acme", { name: "Acme Freight" })
  const carrier = await operator.createApiKey("acme", { name: "tms", roles: ["carrier"] })
  const customer = await operator.createApiKey("acme", { name: "shipper", roles: ["customer"], accounts: [account] })
  const { secret } = await operator.putSecret("acme", "main", { anyClient: true })
  return {
    url,
    server,
    waybill,
    operator,
    operatorKey,
    secret,
    carrierKey: carrier.key,
    customerKey: customer.key,
    intake: new IntakeClient({ baseUrl: url, apiKey: carrier.key }),
    customer: new TransitEventsClient({ baseUrl: url, apiKey: customer.key }),
    pickups: new PickupsClient({ baseUrl: url, apiKey: customer.key }),
    /** Environment of an operator's shell. */
    env: { WAYBILL_URL: url, WAYBILL_OPERATOR_KEY: operatorKey, WAYBILL_TENANT: "acme" }
  }
}

export const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`
