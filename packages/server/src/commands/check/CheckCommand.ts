/** `waybill check <url>`: checks whether a receiver, or a publisher with `--publisher`, meets the requirements. */
import { WebhookSecretUnusable } from "@waybill/client"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { writeFile } from "node:fs/promises"
import { CommandFailed, exitCodes, failed, usageError } from "../shared/Outcome.ts"
import { counted, jsonFlag, printable, printProgress } from "../shared/Output.ts"
import { webAddress } from "../shared/Remote.ts"
import { secretFlags, secretsFrom } from "../shared/WebhookSecrets.ts"
import { junitXml } from "./Junit.ts"
import { publisherChecks, publisherFlags, publisherFlagsIn } from "./PublisherCheck.ts"
import { publisherRequirements } from "./PublisherRequirements.ts"
import { deliveryKinds } from "./SampleDeliveries.ts"
import { receiverChecks } from "./ReceiverCheck.ts"
import { requirements } from "./Requirements.ts"
import type { Check, Verdict } from "./Verdict.ts"

const written = (path: string, text: string): Effect.Effect<void, CommandFailed> =>
  Effect.tryPromise({ try: () => writeFile(path, text), catch: (error) => failed(`${path} could not be written: ${error instanceof Error ? error.message : String(error)}.`) })

const verdictOf = ({ find, id, sentence }: Check) =>
  Effect.tryPromise({
    try: async () => {
      const begun = performance.now()
      const { detail, met, millis, unreachable } = await find()
      const verdict: Verdict = { id, sentence, met, detail: printable(detail), millis: millis ?? Math.round(performance.now() - begun) }
      return { verdict, unreachable }
    },
    catch: (error) => error instanceof WebhookSecretUnusable ? usageError(error.message) : failed(error instanceof Error ? error.message : String(error))
  })

const ids = [...requirements, ...publisherRequirements].map(({ id }) => id)

/** Runs the checks one by one and prints each result at once. */
const judge = Effect.fnUntraced(function*(url: string, checks: ReadonlyArray<Check>, flags: { readonly json: boolean; readonly junit: Option.Option<string> }) {
  const verdicts: Array<Verdict> = []
  for (const [index, check] of checks.entries()) {
    const { unreachable, verdict } = yield* verdictOf(check)
    if (index === 0 && unreachable !== undefined) return yield* new CommandFailed({ detail: unreachable, code: exitCodes.unreachable })
    verdicts.push(verdict)
    const { detail, id, met, sentence } = verdict
    yield* flags.json ? printProgress(`${index + 1}/${checks.length}  ${id}`) : Console.log(`${met ? "✓" : "✗"} ${sentence}\n    ${detail}`)
  }
  const unmet = verdicts.filter(({ met }) => !met)
  if (flags.json) yield* Console.log(JSON.stringify({ url, passed: unmet.length === 0, requirements: verdicts }))
  const junit = Option.getOrUndefined(flags.junit)
  if (junit !== undefined) yield* written(junit, junitXml(url, verdicts))
  if (unmet.length > 0) return yield* failed(`${counted(unmet.length, "requirement")} of ${verdicts.length} not met: ${unmet.map(({ id }) => id).join(", ")}.`)
  if (!flags.json) yield* Console.log(`All ${counted(verdicts.length, "requirement")} met.`)
})

export const checkCommand = Command.make(
  "check",
  {
    url: Argument.String("url").pipe(Argument.withDescription("URL of the receiver; with --publisher the URL before /v1/events and /v1/subscriptions")),
    kind: Flag.Literals("kind", deliveryKinds).pipe(Flag.withDescription("Kind of deliveries; default transit-events"), Flag.optional),
    ...secretFlags,
    publisher: Flag.Boolean("publisher").pipe(Flag.withDescription("Check a publisher of transit events instead: subscribe, and inspect its deliveries"), Flag.withDefault(false)),
    ...publisherFlags,
    only: Flag.Literals("only", ids).pipe(Flag.withDescription("Only this requirement; can be given several times"), Flag.atLeast(0)),
    timeout: Flag.Finite("timeout").pipe(Flag.withDescription("Timeout of one response in seconds; default 15, like the server"), Flag.withDefault(15)),
    junit: Flag.String("junit").pipe(Flag.withDescription("Also write the results to this file as JUnit XML"), Flag.withMetavar("file"), Flag.optional),
    json: jsonFlag
  },
  (flags) =>
    Effect.scoped(Effect.gen(function*() {
      const url = yield* webAddress(flags.url, flags.publisher ? "The publisher's address" : "The receiver's address")
      if (!(flags.timeout > 0 && flags.timeout <= 600)) return yield* usageError("--timeout is a number of seconds up to 600.")
      const meaningless = flags.publisher ? (Option.isSome(flags.kind) ? ["--kind"] : []) : publisherFlagsIn(flags)
      if (meaningless.length > 0) {
        return yield* usageError(flags.publisher ? "--kind is for receivers only. Of a publisher, transit events are checked." : `${meaningless.join(", ")}: only with --publisher.`)
      }
      const secrets = yield* secretsFrom(flags)
      if (secrets.length === 0) {
        return yield* usageError(`No webhook secret given. Set WAYBILL_WEBHOOK_SECRET, or give --secret-file.`)
      }
      const timeoutMillis = flags.timeout * 1000
      const all = flags.publisher
        ? yield* publisherChecks(flags, { url, secrets, timeoutMillis })
        : receiverChecks({ url, secrets, timeoutMillis, kind: Option.getOrElse(flags.kind, () => "transit-events" as const) })
      const unknownIds = flags.only.filter((id) => !all.some((check) => check.id === id))
      if (unknownIds.length > 0) return yield* usageError(`${unknownIds.join(", ")}: unknown requirement. Requirements: ${all.map(({ id }) => id).join(", ")}.`)
      yield* judge(url, all.filter(({ id }) => flags.only.length === 0 || flags.only.includes(id)), flags)
    }))
).pipe(
  Command.withDescription(
    "Send valid, unsigned, stale, replayed, reordered, duplicated and forged deliveries to a receiver, and report each requirement.\n"
      + "All shipments are fictitious and begin with WAYBILL-CHECK-. Only responses are visible from outside: test yourself whether a duplicate is handled twice.\n\n"
      + "With --publisher: subscribe to another implementation of area D, receive its deliveries, refuse some, and inspect the retries"
  ),
  Command.withShortDescription("Check whether a receiver or publisher meets the requirements"),
  Command.withExamples([
    { command: "waybill check https://shipper.example/webhooks/waybill", description: "With the secret in WAYBILL_WEBHOOK_SECRET" },
    { command: "waybill check http://127.0.0.1:3000/hook --secret-file webhook-secret --junit check.xml", description: "In a pipeline" },
    { command: "waybill check https://shipper.example/webhooks/pfc --kind freight-charges", description: "A receiver of freight charges" },
    {
      command: "waybill check --publisher https://carrier.example/visibility --secret-id main --port 4000 --callback-url https://me.example/check",
      description: "A publisher, which reaches this machine's port 4000 at that address; its key is in WAYBILL_API_KEY"
    }
  ])
)
