/** Builds the publisher checks from their own flags. */
import { Effect, Option, type Redacted, type Scope } from "effect"
import { Flag } from "effect/cli"
import { spawn } from "node:child_process"
import { type CommandFailed, failed, usageError } from "../shared/Outcome.ts"
import { printProgress } from "../shared/Output.ts"
import { apiKeyOf, carrierFlags, webAddress } from "../shared/Remote.ts"
import { openCallback } from "./Callback.ts"
import { Publisher, Unmet } from "./Publisher.ts"
import { runCheck, publisherRequirements } from "./PublisherRequirements.ts"
import type { Check } from "./Verdict.ts"

export const publisherFlags = {
  key: carrierFlags.key,
  secretId: Flag.String("secret-id").pipe(Flag.withDescription("With --publisher: the publisher's hmacSecretId of the secret"), Flag.optional),
  callbackUrl: Flag.String("callback-url").pipe(Flag.withDescription("With --publisher: where it reaches this command; default: the listening address"), Flag.optional),
  host: Flag.String("host").pipe(Flag.withDescription("With --publisher: the address to receive deliveries on; default 127.0.0.1"), Flag.optional),
  port: Flag.Int("port").pipe(Flag.withDescription("With --publisher: the port to receive deliveries on; 0, the default, picks a free one"), Flag.optional),
  trigger: Flag.String("trigger").pipe(
    Flag.withDescription("With --publisher: a shell command that publishes several events of each shipment; run whenever events are needed. Without it, the check waits for events"),
    Flag.withMetavar("command"),
    Flag.optional
  ),
  wait: Flag.Finite("wait").pipe(Flag.withDescription("With --publisher: seconds to wait for deliveries; default 30"), Flag.optional)
}

interface Flags {
  readonly key: Option.Option<Redacted.Redacted>
  readonly secretId: Option.Option<string>
  readonly callbackUrl: Option.Option<string>
  readonly host: Option.Option<string>
  readonly port: Option.Option<number>
  readonly trigger: Option.Option<string>
  readonly wait: Option.Option<number>
}

const spellings: Readonly<Record<keyof Flags, string>> = {
  key: "--key",
  secretId: "--secret-id",
  callbackUrl: "--callback-url",
  host: "--host",
  port: "--port",
  trigger: "--trigger",
  wait: "--wait"
}

/** The given flags that do not apply to the check of a receiver. */
export const publisherFlagsIn = (flags: Flags): ReadonlyArray<string> =>
  (Object.keys(spellings) as Array<keyof Flags>).filter((name) => Option.isSome(flags[name] as Option.Option<unknown>)).map((name) => spellings[name])

/** After this time without a delivery, no more are expected. */
const quietMillis = 1_000

/** Runs the trigger command; its output goes to standard error. */
const running = (command: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => output = `${output}${text}`.slice(-500))
    child.once("error", reject)
    child.once("close", (code) => code === 0 ? resolve() : reject(new Unmet(`The --trigger ended with ${code}: ${output.replaceAll(/\s+/g, " ").trim()}`)))
  })

/** Runs the callback server until the scope ends. */
export const publisherChecks = Effect.fnUntraced(function*(
  flags: Flags,
  { secrets, timeoutMillis, url }: { readonly url: string; readonly secrets: ReadonlyArray<string>; readonly timeoutMillis: number }
): Effect.fn.Return<ReadonlyArray<Check>, CommandFailed, Scope.Scope> {
  const wait = Option.getOrElse(flags.wait, () => 30)
  if (!(wait > 0 && wait <= 3600)) return yield* usageError("--wait is a number of seconds up to 3600.")
  const apiKey = yield* apiKeyOf(flags)
  if (apiKey === undefined) return yield* usageError("This needs a subscriber's key for the publisher. Set WAYBILL_API_KEY.")
  const hmacSecretId = Option.getOrUndefined(flags.secretId)
  if (hmacSecretId === undefined) return yield* usageError("No secret id given. Set --secret-id to the publisher's hmacSecretId of the secret.")
  const publicUrl = Option.isNone(flags.callbackUrl) ? undefined : yield* webAddress(flags.callbackUrl.value, "The callback's address")
  const [host, port] = [Option.getOrElse(flags.host, () => "127.0.0.1"), Option.getOrElse(flags.port, () => 0)]
  const callback = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => openCallback({ host, port, ...(publicUrl === undefined ? {} : { publicUrl }) }),
      catch: (error) => failed(`It cannot listen on ${host}, port ${port}: ${error instanceof Error ? error.message : String(error)}. Give another --port or --host.`)
    }),
    ({ close }) => Effect.sync(close)
  )
  yield* printProgress(`Receiving deliveries on ${host}, port ${callback.port}${publicUrl === undefined ? "" : `, which is ${publicUrl} for the publisher`}.`)
  const trigger = Option.getOrUndefined(flags.trigger)
  const publisher = new Publisher({
    baseUrl: url,
    apiKey,
    callback,
    hmacSecretId,
    secrets,
    timeoutMillis,
    waitMillis: wait * 1000,
    quietMillis,
    ...(trigger === undefined ? {} : { trigger: () => running(trigger) })
  })
  // An interrupted check must leave no subscription behind.
  yield* Effect.addFinalizer(() => Effect.promise(() => publisher.deleteSubscriptions()))
  return publisherRequirements.map((requirement) => ({
    id: requirement.id,
    sentence: requirement.sentence,
    find: async () => {
      const { detail, met } = await runCheck(publisher, requirement)
      return { met, detail, ...(publisher.answered ? {} : { unreachable: `No response from ${url}: ${detail} Start the publisher, or correct the address.` }) }
    }
  }))
})
