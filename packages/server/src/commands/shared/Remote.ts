/** Calls to a running server: its address, the key, and error messages. */
import { OperatorClient, WaybillCallFailed, WaybillProblem } from "@waybill/client"
import { reasonOf } from "@waybill/conformance"
import { parseOperatorKeys } from "@waybill/http"
import { Effect, Option, Redacted, Result } from "effect"
import { type Command, Flag } from "effect/cli"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { messageOf } from "../../ErrorMessage.ts"
import { operatorKeyFile } from "../../config/DataDir.ts"
import { CommandFailed, exitCodes, usageError } from "./Outcome.ts"
import { printable } from "../../Printable.ts"
import { setting } from "../../config/Setting.ts"

const defaultUrl = "http://127.0.0.1:8080"

const urlFlag = Flag.String("url").pipe(
  Flag.withDescription(`The server's address; else WAYBILL_URL, else ${defaultUrl}`),
  Flag.optional
)

const keyFlag = (variable: string, fallback: string) =>
  Flag.Redacted("key").pipe(
    Flag.withDescription(`The key to call with; better in ${variable}, because other users of a machine can see command lines${fallback}`),
    Flag.optional
  )

/** Flags of operator commands that do not concern a single tenant. */
export const connectionFlags = {
  url: urlFlag,
  key: keyFlag("WAYBILL_OPERATOR_KEY", ". For a server on this machine that generated its key, default: the key in its data directory")
}

/** Flags of operator commands. */
export const operatorFlags = {
  ...connectionFlags,
  tenant: Flag.String("tenant").pipe(Flag.withDescription("Tenant id; else WAYBILL_TENANT"), Flag.optional)
}

/** Flags of commands that call with a carrier's key. */
export const carrierFlags = { url: urlFlag, key: keyFlag("WAYBILL_API_KEY", "") }

type Flags = Command.Command.Config.Infer<typeof connectionFlags>

/** Calls as the operator, in the tenant of `--tenant`. */
export const operatorOfTenant = Effect.fnUntraced(function*(flags: Command.Command.Config.Infer<typeof operatorFlags>) {
  const baseUrl = yield* addressOf(flags)
  const tenantId = Option.getOrUndefined(flags.tenant) ?? (yield* setting("WAYBILL_TENANT"))
  if (tenantId === undefined) return yield* usageError("No tenant given. Give --tenant, or set WAYBILL_TENANT.")
  return { baseUrl, operator: new OperatorClient({ baseUrl, apiKey: yield* operatorKeyOf(flags, baseUrl) }), tenantId }
})

/** Calls as the operator that do not concern a single tenant. */
export const operatorOfAllTenants = Effect.fnUntraced(function*(flags: Flags): Effect.fn.Return<OperatorClient, CommandFailed> {
  const baseUrl = yield* addressOf(flags)
  return new OperatorClient({ baseUrl, apiKey: yield* operatorKeyOf(flags, baseUrl) })
})

const operatorKeyOf = Effect.fnUntraced(function*(flags: Flags, baseUrl: string): Effect.fn.Return<string, CommandFailed> {
  const text = (yield* keyOf(flags, "WAYBILL_OPERATOR_KEY")) ?? (yield* keyInFile) ?? (yield* keyInDataDir(baseUrl))
  if (text !== undefined) return yield* writableKeyOf(text)
  return yield* usageError("No operator key given. Set WAYBILL_OPERATOR_KEY, or run the command next to the server's data directory.")
})

/** A server's variable may hold several named operator keys. Uses the first one that may write. */
const writableKeyOf = (text: string): Effect.Effect<string, CommandFailed> =>
  Result.match(parseOperatorKeys(text), {
    onSuccess: (keys) => Effect.succeed(Redacted.value((keys.find(({ readOnly }) => !readOnly) ?? keys[0]!).key)),
    // The server explains what is wrong with a key that can be sent.
    onFailure: (reason) => /\s/.test(text) ? Effect.fail(usageError(`The operator key ${reason}.`)) : Effect.succeed(text)
  })

const keyInFile = Effect.flatMap(setting("WAYBILL_OPERATOR_KEY_FILE"), (path) =>
  path === undefined ? Effect.undefined : Effect.tryPromise({
    try: () => readFile(path, "utf8").then((text) => text.trim()),
    catch: (error) => usageError(`The file of WAYBILL_OPERATOR_KEY_FILE cannot be read: ${messageOf(error)}. Correct the path, or let this user read it.`)
  }))

export const carrierConnection = Effect.fnUntraced(function*(flags: Flags) {
  const baseUrl = yield* addressOf(flags)
  const apiKey = yield* keyOf(flags, "WAYBILL_API_KEY")
  if (apiKey === undefined) return yield* usageError("No API key given. Set WAYBILL_API_KEY to a carrier's key; waybill keys create --role carrier creates one.")
  return { baseUrl, apiKey }
})

const addressOf = Effect.fnUntraced(function*({ url }: Flags): Effect.fn.Return<string, CommandFailed> {
  const text = Option.getOrUndefined(url) ?? (yield* setting("WAYBILL_URL")) ?? defaultUrl
  return yield* webAddress(text, "The server's address")
})

/** Refuses text that is not a web address, and addresses with a password, because addresses are printed. */
export const webAddress = (text: string, what: string): Effect.Effect<string, CommandFailed> => {
  const address = URL.parse(text)
  if (address === null || !/^https?:$/.test(address.protocol)) return Effect.fail(usageError(`${what} must start with https:// or http://.`))
  if (address.username !== "" || address.password !== "") return Effect.fail(usageError(`${what} contains a user name or a password. Remove them.`))
  return Effect.succeed(text)
}

const keyOf = Effect.fnUntraced(function*({ key }: Pick<Flags, "key">, variable: string) {
  return Option.isSome(key) ? Redacted.value(key.value).trim() : yield* setting(variable)
})

export const isLoopback = (url: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)

/** The operator key in this machine's data directory. Never sent to another machine. */
const keyInDataDir = Effect.fnUntraced(function*(url: string) {
  if (!isLoopback(url)) return undefined
  const dataDir = (yield* setting("WAYBILL_DATA_DIR")) ?? ".waybill"
  return yield* Effect.promise(() => readFile(join(dataDir, operatorKeyFile), "utf8").then((text) => text.trim(), () => undefined))
})

/** Runs a call, and turns its failure into a message that says what to do. */
export const callServer = <A>(work: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, CommandFailed> =>
  Effect.tryPromise({ try: work, catch: failureOf })

export const failureOf = (error: unknown): CommandFailed => {
  if (error instanceof WaybillProblem) {
    const code = error.status >= 500 || error.status === 429 ? exitCodes.unreachable : exitCodes.refused
    return new CommandFailed({ message: printable(refusalOf(error)), code })
  }
  if (error instanceof WaybillCallFailed) {
    const why = error.cause instanceof Error ? reasonOf(error.cause) : ""
    return new CommandFailed({ message: printable(`${error.message}${why} Check the address: give it with --url, or set WAYBILL_URL.`), code: exitCodes.unreachable })
  }
  if (error instanceof TypeError) return usageError(error.message)
  return new CommandFailed({ message: messageOf(error), code: exitCodes.failed })
}

const refusalOf = (problem: WaybillProblem): string => {
  const [first, ...others] = problem.errors
  // The message is usually the first error.
  const unsaid = first === undefined || problem.message.includes(first.detail) ? others : problem.errors
  const more = unsaid.map(({ detail, field, parameter, pointer }) => {
    const where = parameter ?? field ?? pointer
    return where === undefined || detail.includes(where) ? detail : `${where}: ${detail}`
  })
  return `${problem.message}${more.length === 0 ? "" : ` ${more.join(" ")}`}${todoOf(problem)}`
}

const todoOf = ({ code, status }: WaybillProblem): string => {
  if (status === 401 || status === 403) return " Check that the key is right for this server."
  return code === "path_not_found" ? " Check the address: a server with WAYBILL_ADMIN_PORT answers operators on that port only, and all others on WAYBILL_PORT." : ""
}
