/** Checks an implementation of the interfaces: reads the flags, prepares fixtures and receiver, and runs the rules. */
import {
  type Area,
  areas,
  type Callback,
  type CheckResult,
  type Fixtures,
  openCallback,
  parseFixtures,
  type Rule,
  rules,
  runRules,
  seedThroughIntake,
  type Target,
  Violation,
  type WindowFrequency
} from "@waybill/conformance"
import { Effect, Option, type Scope } from "effect"
import { type Command, Flag } from "effect/cli"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { clauseOf, messageOf } from "../../ErrorMessage.ts"
import { ProcessContext } from "../../ProcessContext.ts"
import { CommandFailed, exitCodes, failed, usageError } from "../shared/Outcome.ts"
import { printProgress } from "../shared/Output.ts"
import { failureOf, isLoopback, webAddress } from "../shared/Remote.ts"

export const apiFlags = {
  area: Flag.String("area").pipe(Flag.withDescription("With --api: the areas to check, such as a,d; can be given several times. Default: all five"), Flag.withMetavar("a|b|c|d|e"), Flag.atLeast(0)),
  fixtures: Flag.String("fixtures").pipe(Flag.withDescription("With --api: a JSON file with credentials, and with freight that exists"), Flag.withMetavar("file"), Flag.optional),
  intake: Flag.Boolean("intake").pipe(Flag.withDescription("With --api: create the freight through Waybill's intake, as clients.carrier of the fixtures"), Flag.optional),
  trigger: Flag.String("trigger").pipe(
    Flag.withDescription("With --api: a shell command that publishes in the area that WAYBILL_CHECK_AREA names, as docs/conformance.md says"),
    Flag.withMetavar("command"),
    Flag.optional
  ),
  receiverUrl: Flag.String("receiver-url").pipe(Flag.withDescription("With --api: where the implementation reaches this command; default: the listening address, for implementations on this machine"), Flag.optional),
  receiverHost: Flag.String("receiver-host").pipe(Flag.withDescription("With --api: the address to receive deliveries on; default 127.0.0.1"), Flag.optional),
  receiverPort: Flag.Int("receiver-port").pipe(Flag.withDescription("With --api: the port to receive deliveries on; 0, the default, picks a free one"), Flag.optional),
  wait: Flag.Finite("wait").pipe(Flag.withDescription("With --api: seconds to wait for a delivery; default 30"), Flag.optional),
  windowWait: Flag.Finite("window-wait").pipe(
    Flag.withDescription("With --api: seconds to wait for the end of a window of hourly (3600) and daily (86400) notifications; default 0, which leaves their rules unchecked"),
    Flag.optional
  ),
  maxSeconds: Flag.Finite("max-seconds").pipe(Flag.withDescription("With --api: time limit of the whole check, without --window-wait; default 600"), Flag.optional),
  maxCalls: Flag.Int("max-calls").pipe(Flag.withDescription("With --api: most calls of the whole check; default 2000"), Flag.optional),
  strict: Flag.Boolean("strict").pipe(Flag.withDescription("With --api: also fail when a should rule fails, or a rule could not be checked"), Flag.optional)
}

type Flags = Command.Command.Config.Infer<typeof apiFlags>

/** Those of the named flags that were given, as they are written: `--receiver-url` for `receiverUrl`. */
export const flagsIn = <Name extends string>(flags: Readonly<Record<Name, Option.Option<unknown> | ReadonlyArray<unknown>>>, names: ReadonlyArray<Name>): ReadonlyArray<string> => {
  const isGiven = (value: Option.Option<unknown> | ReadonlyArray<unknown>) => Option.isOption(value) ? Option.isSome(value) : value.length > 0
  return names.filter((name) => isGiven(flags[name])).map((name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`)
}

/** The rules of the areas. */
export const rulesFor = Effect.fnUntraced(function*({ area }: Pick<Flags, "area">): Effect.fn.Return<ReadonlyArray<Rule>, CommandFailed> {
  const names = area.flatMap((text) => text.split(",")).map((text) => text.trim().toLowerCase()).filter((text) => text !== "")
  const unknown = names.find((name) => !(areas as ReadonlyArray<string>).includes(name))
  if (unknown !== undefined) return yield* usageError(`${unknown}: unknown area. Areas: ${areas.join(", ")}.`)
  return rules.filter((rule) => names.length === 0 || names.includes(rule.area))
})

/** Where Waybill serves each area, unless the fixtures say otherwise. */
const paths: Readonly<Record<Area, string>> = { a: "/in-transit/v1", b: "/invoicing", c: "/pickup", d: "/visibility", e: "/pfc" }

const basesOf = (url: string, { bases = {} }: Fixtures): Readonly<Record<Area, string>> =>
  Object.fromEntries(areas.map((area) => [area, bases[area] ?? `${url.replace(/\/+$/u, "")}${paths[area]}`])) as Record<Area, string>

/** After this time without a delivery, no more are expected. */
const quietMillis = 1_000
const maxAnswerBytes = 32 * 1024 * 1024

/** Seconds until a window ends at the latest. */
const windowSeconds: Readonly<Record<WindowFrequency, number>> = { hourly: 3600, daily: 86_400 }

/** The frequencies whose windows end within the time to wait. */
const windowMillisOf = (seconds: number): NonNullable<Target["windowMillis"]> =>
  Object.fromEntries(Object.entries(windowSeconds).filter(([, least]) => seconds >= least).map(([frequency]) => [frequency, seconds * 1000]))

/** Runs the trigger command for an area; its output goes into the error. */
const runTrigger = async (command: string, area: Area, signal: AbortSignal): Promise<void> => {
  const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, WAYBILL_CHECK_AREA: area }, signal })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => output = `${output}${text}`.slice(-500))
  const [code] = await once(child, "close")
  if (code !== 0) throw new Violation(`The --trigger ended with ${code}: ${output.replaceAll(/\s+/g, " ").trim()}`)
}

const within = (value: Option.Option<number>, fallback: number, max: number, flag: string): Effect.Effect<number, CommandFailed> => {
  const number = Option.getOrElse(value, () => fallback)
  return number > 0 && number <= max ? Effect.succeed(number) : Effect.fail(usageError(`${flag} is a number above 0, up to ${max}.`))
}

const fixturesFrom = Effect.fnUntraced(function*({ fixtures }: Flags): Effect.fn.Return<Fixtures, CommandFailed> {
  if (Option.isNone(fixtures)) return {}
  const path = fixtures.value
  const text = yield* Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: (error) => usageError(`${path} cannot be read: ${clauseOf(error)}.`) })
  return yield* Effect.try({ try: () => parseFixtures(text, process.env), catch: (error) => usageError(messageOf(error)) })
})

const callbackFor = Effect.fnUntraced(function*(flags: Flags): Effect.fn.Return<Callback, CommandFailed, Scope.Scope> {
  const publicUrl = Option.isNone(flags.receiverUrl) ? undefined : yield* webAddress(flags.receiverUrl.value, "The receiver's address")
  const [host, port] = [Option.getOrElse(flags.receiverHost, () => "127.0.0.1"), Option.getOrElse(flags.receiverPort, () => 0)]
  const callback = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => openCallback({ host, port, ...(publicUrl === undefined ? {} : { publicUrl }) }),
      catch: (error) => failed(`It cannot listen on ${host}, port ${port}: ${clauseOf(error)}. Give another --receiver-port or --receiver-host.`)
    }),
    ({ close }) => Effect.sync(close)
  )
  yield* printProgress(`Receiving deliveries on ${host}, port ${callback.port}${publicUrl === undefined ? "" : `, which is ${publicUrl} for the implementation`}.`)
  return callback
})

/** Fails when the implementation does not respond at all. */
export const checkApi = Effect.fnUntraced(function*(
  flags: Flags,
  { timeoutMillis, url }: { readonly url: string; readonly timeoutMillis: number },
  chosen: ReadonlyArray<Rule>,
  onResult: (result: CheckResult) => void
): Effect.fn.Return<ReadonlyArray<CheckResult>, CommandFailed, Scope.Scope> {
  const given = yield* fixturesFrom(flags)
  const waitMillis = 1000 * (yield* within(flags.wait, 30, 3600, "--wait"))
  const totalMillis = 1000 * (yield* within(flags.maxSeconds, 600, 86_400, "--max-seconds"))
  const waitSeconds = Option.getOrElse(flags.windowWait, () => 0)
  if (!(waitSeconds >= 0 && waitSeconds <= 172_800)) return yield* usageError("--window-wait is a number of seconds, up to 172800.")
  const windowMillis = windowMillisOf(waitSeconds)
  const windowTotal = Object.values(windowMillis).reduce((sum, millis) => sum + millis, 0)
  const maxCalls = yield* within(flags.maxCalls, 2000, 1_000_000, "--max-calls")
  const command = Option.getOrUndefined(flags.trigger)
  const usesIntake = Option.getOrElse(flags.intake, () => false)
  if (usesIntake && command !== undefined) return yield* usageError("--intake publishes by itself. Give it or --trigger, not both.")
  const callback = yield* callbackFor(flags)
  const end = yield* Effect.acquireRelease(Effect.sync(() => new AbortController()), (controller) => Effect.sync(() => controller.abort()))
  const { fixtures, trigger } = usesIntake
    ? yield* Effect.tryPromise({ try: () => seedThroughIntake(url, given, randomUUID().slice(0, 6)), catch: (error) => error instanceof RangeError ? usageError(error.message) : failureOf(error) })
    : { fixtures: given, trigger: command === undefined ? undefined : (area: Area) => runTrigger(command, area, end.signal) }
  const { writeError } = yield* ProcessContext
  let run: ReturnType<typeof runRules> | undefined
  // an interrupted check must leave nothing behind
  yield* Effect.addFinalizer(() => Effect.promise(async () => {
    end.abort()
    await run?.catch(() => {})
  }))
  const { results, unreachable } = yield* Effect.promise(() =>
    run = runRules({
      bases: basesOf(url, fixtures),
      fixtures,
      callback,
      isReachable: isLoopback(url) || Option.isSome(flags.receiverUrl),
      ...(trigger === undefined ? {} : { trigger }),
      limits: { timeoutMillis, totalMillis: totalMillis + windowTotal, maxCalls, maxAnswerBytes },
      waitMillis,
      quietMillis,
      windowMillis,
      onWindowWait: (frequency, millis) => writeError(`Waiting for the end of a window of ${frequency} notifications, up to ${millis / 1000} s.`)
    }, chosen, { onResult, signal: end.signal })
  )
  if (unreachable !== undefined) return yield* new CommandFailed({ message: `No response from ${url}: ${unreachable} Start the implementation, or correct the address.`, code: exitCodes.unreachable })
  return results
})
