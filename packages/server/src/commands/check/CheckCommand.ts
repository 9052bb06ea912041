/** `waybill check <url>`: whether a receiver does what every receiver has to do. */
import { WebhookSecretUnusable } from "@waybill/client"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { writeFile } from "node:fs/promises"
import { CommandFailed, exitCodes, failed, unusable } from "../shared/Outcome.ts"
import { counted, jsonFlag, progress } from "../shared/Output.ts"
import { webAddress } from "../shared/Remote.ts"
import { secretFlags, secretsFrom } from "../shared/WebhookSecrets.ts"
import { junitXml } from "./Junit.ts"
import { Receiver } from "./Receiver.ts"
import { requirements } from "./Requirements.ts"
import type { Verdict } from "./Verdict.ts"

const written = (path: string, text: string): Effect.Effect<void, CommandFailed> =>
  Effect.tryPromise({ try: () => writeFile(path, text), catch: (error) => failed(`${path} could not be written: ${error instanceof Error ? error.message : String(error)}.`) })

const checkOne = (receiver: Receiver, { find, id, sentence }: (typeof requirements)[number]) =>
  Effect.tryPromise({
    try: async () => {
      const { answers, detail, met } = await find(receiver)
      const verdict: Verdict = { id, sentence, met, detail, millis: answers.reduce((sum, { millis }) => sum + millis, 0) }
      return { verdict, answers }
    },
    catch: (error) => error instanceof WebhookSecretUnusable ? unusable(error.message) : failed(error instanceof Error ? error.message : String(error))
  })

export const checkCommand = Command.make(
  "check",
  {
    url: Argument.String("url").pipe(Argument.withDescription("Where the receiver takes transit events")),
    ...secretFlags,
    only: Flag.Literals("only", requirements.map(({ id }) => id)).pipe(Flag.withDescription("Only this requirement; can be given several times"), Flag.atLeast(0)),
    timeout: Flag.Finite("timeout").pipe(Flag.withDescription("Seconds for one answer; default 15, as the server has it"), Flag.withDefault(15)),
    junit: Flag.String("junit").pipe(Flag.withDescription("Write the verdicts into this file as JUnit XML, too"), Flag.withMetavar("file"), Flag.optional),
    json: jsonFlag
  },
  Effect.fnUntraced(function*(flags) {
    const url = yield* webAddress(flags.url, "The receiver's address")
    if (!(flags.timeout > 0 && flags.timeout <= 600)) return yield* unusable("--timeout is a number of seconds up to 600.")
    const secrets = yield* secretsFrom(flags)
    if (secrets.length === 0) return yield* unusable("Which secret does the receiver verify with? Set WAYBILL_WEBHOOK_SECRET, or give --secret-file.")
    const receiver = new Receiver({ url, secrets, timeoutMillis: flags.timeout * 1000 })

    const chosen = requirements.filter(({ id }) => flags.only.length === 0 || flags.only.includes(id))
    const verdicts: Array<Verdict> = []
    for (const [index, requirement] of chosen.entries()) {
      const { answers, verdict } = yield* checkOne(receiver, requirement)
      if (index === 0 && answers.every(({ status }) => status === undefined)) {
        return yield* new CommandFailed({ detail: `Nobody answers at ${url}: ${answers[0]?.trouble}. Start the receiver, or correct the address.`, code: exitCodes.unreachable })
      }
      verdicts.push(verdict)
      const { detail, id, met, sentence } = verdict
      yield* flags.json ? progress(`${index + 1}/${chosen.length}  ${id}`) : Console.log(`${met ? "✓" : "✗"} ${sentence}\n    ${detail}`)
    }
    const unmet = verdicts.filter(({ met }) => !met)
    if (flags.json) yield* Console.log(JSON.stringify({ url, passed: unmet.length === 0, requirements: verdicts }))
    const junit = Option.getOrUndefined(flags.junit)
    if (junit !== undefined) yield* written(junit, junitXml(url, verdicts))
    if (unmet.length > 0) return yield* failed(`${counted(unmet.length, "requirement")} of ${verdicts.length} not met: ${unmet.map(({ id }) => id).join(", ")}.`)
    if (!flags.json) yield* Console.log(`All ${counted(verdicts.length, "requirement")} met.`)
  })
).pipe(
  Command.withDescription(
    "Send a receiver good, unsigned, stale, replayed, reordered, duplicated and forged deliveries, and say of each requirement whether it is met.\n"
      + "The shipments are made up, and all begin with WAYBILL-CHECK-. Only answers can be seen from outside: whether a duplicate is handled twice is for your own tests"
  ),
  Command.withShortDescription("Check whether a receiver does what every receiver has to do"),
  Command.withExamples([
    { command: "waybill check https://shipper.example/webhooks/waybill", description: "With the secret in WAYBILL_WEBHOOK_SECRET" },
    { command: "waybill check http://127.0.0.1:3000/hook --secret-file webhook-secret --junit check.xml", description: "In a pipeline" }
  ])
)
