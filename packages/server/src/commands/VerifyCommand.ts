/** `waybill verify`: checks the signature of a saved webhook, and explains a mismatch. */
import { DeliveryRefused, readContent, verifyDelivery, verifyXSignature, WebhookSecretUnusable } from "@waybill/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { messageOf } from "../ErrorMessage.ts"
import { instantFlag } from "./shared/Instants.ts"
import { CommandFailed, exitCodes, failed, usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printResult } from "./shared/Output.ts"
import { readInput, secretFlags, secretsFrom } from "./shared/WebhookSecrets.ts"

export interface Message {
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array
}

/** Parses a raw HTTP request: an optional request line, headers, an empty line, and the body, byte for byte. */
const readMessage = (bytes: Buffer): Message => {
  const gap = /\r?\n\r?\n/.exec(bytes.toString("latin1"))
  const at = gap === null ? bytes.length : gap.index + gap[0].length
  return { headers: readHeaders(bytes.subarray(0, at).toString("latin1").split(/\r?\n/)), body: new Uint8Array(bytes.subarray(at)) }
}

/** Skips lines that are not headers, such as the request line and tool output. Removes the `>` that curl prints before headers. */
const readHeaders = (lines: ReadonlyArray<string>): Message["headers"] =>
  lines.flatMap((line) => {
    const [, name, value] = /^(?:> )?([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const]
  })

type Verdict =
  | { readonly valid: true; readonly deliveryId: string | null; readonly signedAt: string | null; readonly secret: number }
  | { readonly valid: false; readonly reason: string; readonly detail: string }

const verdictOf = async (message: Message, options: { readonly secrets: ReadonlyArray<string>; readonly now: Date; readonly tolerance: number; readonly older: boolean }): Promise<Verdict> => {
  const headers = message.headers.flat()
  try {
    if (options.older) {
      const { secretIndex } = await verifyXSignature({ secrets: options.secrets, headers, body: message.body })
      return { valid: true, deliveryId: null, signedAt: null, secret: secretIndex + 1 }
    }
    const verified = await verifyDelivery({ secrets: options.secrets, headers, body: message.body, now: options.now, toleranceSeconds: options.tolerance })
    return { valid: true, deliveryId: verified.deliveryId, signedAt: verified.signedAt.toISOString(), secret: verified.secretIndex + 1 }
  } catch (error) {
    if (error instanceof DeliveryRefused) return { valid: false, reason: error.reason, detail: error.message }
    throw error
  }
}

const lineFeed = 10
const carriageReturn = 13

/** The body without the final line break that an editor or `echo` may have added; `undefined` when there is none. */
const withoutLastBreak = (body: Uint8Array): Uint8Array | undefined => {
  if (body.at(-1) !== lineFeed) return undefined
  return body.subarray(0, body.at(-2) === carriageReturn ? -2 : -1)
}

/** Summary of the content, if a receiver would recognize it. */
const contentsOf = (body: Uint8Array): string => {
  try {
    const content = readContent(body)
    switch (content.kind) {
      case "events":
        return counted(content.events.length, "event")
      case "status":
        return `the status of PRO ${content.notification.proNumber}`
      case "charges":
        return counted(content.charges.length, "freight charge")
      case "pickups":
        return counted(content.pickups.length, "entry", "entries") + " of the work list of pickups"
      case "notice":
        return `the notice ${content.notice.type}`
      case "test":
        return "a test event"
    }
  } catch (error) {
    if (error instanceof DeliveryRefused) return ""
    throw error
  }
}

export const verifyCommand = Command.make(
  "verify",
  {
    file: Argument.String("file").pipe(Argument.withDescription("The request: headers, an empty line, the body. Left out or -: standard input"), Argument.withDefault("-")),
    headers: Flag.String("header").pipe(
      Flag.withDescription("A header, \"webhook-id: …\"; can be given several times. The file is then the body alone"),
      Flag.atLeast(0)
    ),
    ...secretFlags,
    at: instantFlag("at").pipe(Flag.withDescription("When a saved request was received, such as 2h or 2026-11-20T08:15:00Z; default: now"), Flag.optional),
    anyAge: Flag.Boolean("any-age").pipe(Flag.withDescription("Ignore its age"), Flag.withDefault(false)),
    tolerance: Flag.Int("tolerance").pipe(Flag.withDescription("Maximum clock difference in seconds; default 300"), Flag.withDefault(300)),
    older: Flag.Boolean("x-signature").pipe(Flag.withDescription("Check the older X-Signature, which covers the body only"), Flag.withDefault(false)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*(flags) {
    if (flags.file === "-" && Option.getOrUndefined(flags.secretFile) === "-") return yield* usageError("Standard input cannot be both, the request and the secret.")
    if (flags.tolerance < 0) return yield* usageError("--tolerance is a number of seconds from 0.")
    const secrets = yield* secretsFrom(flags)
    if (secrets.length === 0) return yield* usageError("No secret given. Set WAYBILL_WEBHOOK_SECRET, or give --secret-file.")
    const bytes = yield* readInput(flags.file)
    const message = flags.headers.length > 0 ? { headers: readHeaders(flags.headers), body: new Uint8Array(bytes) } : readMessage(bytes)
    const options = {
      secrets,
      now: Option.getOrElse(flags.at, () => new Date()),
      tolerance: flags.anyAge ? Number.MAX_SAFE_INTEGER : flags.tolerance,
      older: flags.older
    }
    const verify = (body: Uint8Array) =>
      Effect.tryPromise({
        try: () => verdictOf({ ...message, body }, options),
        catch: (error) => error instanceof WebhookSecretUnusable ? usageError(error.message) : failed(messageOf(error))
      })
    const verdict = yield* verify(message.body)
    if (verdict.valid) {
      const contents = contentsOf(message.body)
      const which = secrets.length === 1 ? "" : ` with secret ${verdict.secret} of ${secrets.length}`
      return yield* printResult(flags.json, {
        json: { ...verdict, contents: contents || null },
        text: [
          `The signature is valid${which}.`,
          ...(verdict.deliveryId === null ? [] : [`  delivery  ${verdict.deliveryId}`, `  signed    ${verdict.signedAt}`]),
          `  body      ${counted(message.body.length, "byte")}${contents === "" ? "" : `: ${contents}`}`
        ].join("\n")
      })
    }
    const shorter = verdict.reason === "signature_mismatch" ? withoutLastBreak(message.body) : undefined
    const isBreak = shorter !== undefined && (yield* verify(shorter)).valid
    const detail = isBreak ? "The body ends with a line break that was not signed: something added it when the webhook was saved. Without it the signature is valid." : verdict.detail
    yield* printResult(flags.json, { json: { ...verdict, detail }, text: `The signature is invalid: ${detail}` })
    return yield* new CommandFailed({ message: `${verdict.reason}.`, code: exitCodes.failed })
  })
).pipe(
  Command.withDescription("Check the signature of a saved webhook. Sends nothing"),
  Command.withExamples([
    { command: "waybill verify request.http --secret-file webhook-secret --any-age", description: "A request from the log of a proxy" },
    {
      command: "waybill verify body.json --header 'webhook-id: 0199…' --header 'webhook-timestamp: 1795162500' --header 'webhook-signature: v1,…' --at 2026-11-20T08:15:00Z",
      description: "Its parts, with the secret in WAYBILL_WEBHOOK_SECRET"
    }
  ])
)
