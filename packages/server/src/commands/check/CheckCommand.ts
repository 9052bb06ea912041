/** `waybill check <url>`: checks whether a receiver meets the requirements, or with `--api` whether an implementation keeps the rules. */
import type { CheckResult } from "@waybill/conformance"
import { Console, Effect, Option, type Scope } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { writeFile } from "node:fs/promises"
import { clauseOf } from "../../ErrorMessage.ts"
import { ProcessContext } from "../../ProcessContext.ts"
import { type CommandFailed, failed, usageError } from "../shared/Outcome.ts"
import { counted } from "../shared/Output.ts"
import { webAddress } from "../shared/Remote.ts"
import { secretFlags, secretsFrom } from "../shared/WebhookSecrets.ts"
import { apiFlags, flagsIn, checkApi, rulesFor } from "./ApiCheck.ts"
import { type Report, withStatus } from "./Report.ts"
import { checkReceiver, requirementsFor } from "./ReceiverCheck.ts"
import { reportAs, type ReportFormat, reportFormats, resultText } from "./Reports.ts"
import { deliveryKinds } from "./SampleDeliveries.ts"

const flags = {
  url: Argument.String("url").pipe(Argument.withDescription("URL of the receiver; with --api the address of the implementation")),
  kind: Flag.Literals("kind", deliveryKinds).pipe(Flag.withDescription("Kind of deliveries to a receiver; default transit-events"), Flag.optional),
  ...secretFlags,
  api: Flag.Boolean("api").pipe(Flag.withDescription("Check an implementation of the five interfaces instead: call it as its customers do, and receive its deliveries"), Flag.withDefault(false)),
  ...apiFlags,
  only: Flag.String("only").pipe(Flag.withDescription("Only the requirement or rule with this id; can be given several times"), Flag.withMetavar("id"), Flag.atLeast(0)),
  timeout: Flag.Finite("timeout").pipe(Flag.withDescription("Timeout of one response in seconds; default 15, like the server"), Flag.withDefault(15)),
  report: Flag.Literals("report", reportFormats).pipe(Flag.withDescription("Format of the report; default text"), Flag.withDefault("text")),
  output: Flag.String("output").pipe(Flag.withDescription("Write the report to this file, and text to standard output"), Flag.withMetavar("file"), Flag.optional)
}

type Flags = Command.Command.Config.Infer<typeof flags>
type OnResult = (result: CheckResult) => void

/** Those with the given ids; all without ids. */
const chosenOf = <C extends { readonly id: string }>(all: ReadonlyArray<C>, only: ReadonlyArray<string>, what: string): Effect.Effect<ReadonlyArray<C>, CommandFailed> => {
  const unknown = only.filter((id) => !all.some((each) => each.id === id))
  return unknown.length > 0
    ? Effect.fail(usageError(`${unknown.join(", ")}: unknown ${what}. Known: ${all.map(({ id }) => id).join(", ")}.`))
    : Effect.succeed(all.filter(({ id }) => only.length === 0 || only.includes(id)))
}

/** How many checks there will be, and their results. */
type Checking = Effect.Effect<{ readonly count: number; readonly run: (onResult: OnResult) => Effect.Effect<ReadonlyArray<CheckResult>, CommandFailed, Scope.Scope> }, CommandFailed>

const checkingReceiver = (given: Flags, url: string): Checking =>
  Effect.gen(function*() {
    const misplaced = flagsIn(given, Object.keys(apiFlags) as ReadonlyArray<keyof typeof apiFlags>)
    if (misplaced.length > 0) return yield* usageError(`${misplaced.join(", ")}: only with --api.`)
    const secrets = yield* secretsFrom(given)
    if (secrets.length === 0) return yield* usageError("No webhook secret given. Set WAYBILL_WEBHOOK_SECRET, or give --secret-file.")
    const kind = Option.getOrElse(given.kind, () => "transit-events" as const)
    const chosen = yield* chosenOf(requirementsFor(kind), given.only, "requirement")
    return { count: chosen.length, run: (onResult: OnResult) => checkReceiver({ url, secrets, timeoutMillis: given.timeout * 1000, kind }, chosen, onResult) }
  })

const checkingApi = (given: Flags, url: string): Checking =>
  Effect.gen(function*() {
    const misplaced = flagsIn(given, ["kind", "secret", "secretFile"])
    if (misplaced.length > 0) return yield* usageError(`${misplaced.join(", ")}: for receivers only. With --api, secrets are in the fixtures.`)
    const chosen = yield* chosenOf(yield* rulesFor(given), given.only, "rule")
    return { count: chosen.length, run: (onResult: OnResult) => checkApi(given, { url, timeoutMillis: given.timeout * 1000 }, chosen, onResult) }
  })

/** The summary. Fails for what must be kept; with `strict` for everything that did not pass. */
const judged = (report: Report, what: string, strict: boolean): Effect.Effect<string, CommandFailed> => {
  const { results } = report
  const failing = results.filter(({ level, status }) => strict ? status !== "passed" : status === "failed" && level !== "should")
  if (failing.length > 0) return Effect.fail(failed(`${counted(failing.length, what)} of ${results.length} not met${strict ? ", or not checked" : ""}: ${failing.map(({ id }) => id).join(", ")}.`))
  const [passed, lax, unchecked] = [withStatus(report, "passed"), withStatus(report, "failed"), withStatus(report, "not checked")]
  if (passed.length === 0) return Effect.fail(failed(`No ${what} could be checked. Give --fixtures with what they need.`))
  if (passed.length === results.length) return Effect.succeed(`All ${counted(results.length, what)} met.`)
  return Effect.succeed(`${passed.length} of ${counted(results.length, what)} met, ${lax.length} that should be met failed, ${unchecked.length} not checked.`)
}

const written = (path: string, text: string): Effect.Effect<void, CommandFailed> =>
  Effect.tryPromise({ try: () => writeFile(path, text), catch: (error) => failed(`${path} could not be written: ${clauseOf(error)}.`) })

const printReport = (report: Report, format: ReportFormat, output: string | undefined): Effect.Effect<void, CommandFailed> => {
  if (output !== undefined) return written(output, reportAs[format](report))
  return format === "text" ? Effect.void : Console.log(reportAs[format](report).trimEnd())
}

export const checkCommand = Command.make("check", flags, (given) =>
  Effect.scoped(Effect.gen(function*() {
    const url = yield* webAddress(given.url, given.api ? "The implementation's address" : "The receiver's address")
    if (!(given.timeout > 0 && given.timeout <= 600)) return yield* usageError("--timeout is a number of seconds up to 600.")
    const { count, run } = yield* (given.api ? checkingApi(given, url) : checkingReceiver(given, url))
    const output = Option.getOrUndefined(given.output)
    const isText = given.report === "text" || output !== undefined
    const console = yield* Console.Console
    const { writeError } = yield* ProcessContext
    let done = 0
    const results = yield* run((result) => {
      done += 1
      // each at once, because a check takes a while
      if (isText) console.log(resultText(result))
      else writeError(`${done}/${count}  ${result.id}`)
    })
    const report = { url, results }
    yield* printReport(report, given.report, output)
    const summary = yield* judged(report, given.api ? "rule" : "requirement", Option.getOrElse(given.strict, () => false))
    if (isText) yield* Console.log(summary)
  }))).pipe(
    Command.withDescription(
      "Send valid, unsigned, stale, replayed, reordered, duplicated and forged deliveries to a receiver, and report each requirement.\n"
        + "All shipments are fictitious and begin with WAYBILL-CHECK-. Only responses are visible from outside: test yourself whether a duplicate is handled twice.\n\n"
        + "With --api: call an implementation of the five interfaces, receive its deliveries, and report each rule of the interfaces. Never run it against production"
    ),
    Command.withShortDescription("Check whether a receiver or an implementation conforms"),
    Command.withExamples([
      { command: "waybill check https://shipper.example/webhooks/waybill", description: "With the secret in WAYBILL_WEBHOOK_SECRET" },
      { command: "waybill check http://127.0.0.1:3000/hook --secret-file webhook-secret --report junit --output check.xml", description: "In a pipeline" },
      { command: "waybill check https://shipper.example/webhooks/pfc --kind freight-charges", description: "A receiver of freight charges" },
      { command: "waybill check --api https://carrier.example/staging --area a,d --fixtures fixtures.json", description: "An implementation of areas A and D" },
      { command: "waybill check --api http://127.0.0.1:8080 --fixtures fixtures.json --intake --strict", description: "A Waybill server, which creates the freight by itself" }
    ])
  )
