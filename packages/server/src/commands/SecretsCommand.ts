/** `waybill secrets`: what signs a tenant's webhooks. */
import { OperatorClient, type SecretSettings } from "@waybill/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { disclosure, disclosureFlags } from "./shared/Disclosure.ts"
import { unusable } from "./shared/Outcome.ts"
import { answer, jsonFlag } from "./shared/Output.ts"
import { asOperator, called, operatorFlags } from "./shared/Remote.ts"
import { secretFlags, secretsFrom } from "./shared/WebhookSecrets.ts"

const flags = {
  id: Argument.String("secretId").pipe(Argument.withDescription("What subscriptions call it; client:<name> signs for a client that names none")),
  ...operatorFlags,
  accounts: Flag.String("account").pipe(
    Flag.withDescription("Only clients with this account may name it; can be given several times. It has to be given at every change"),
    Flag.atLeast(0)
  ),
  overlap: Flag.Int("overlap-seconds").pipe(Flag.withDescription("How long the secret before it signs as well; default: a day"), Flag.optional),
  bodySignature: Flag.Boolean("body-signature").pipe(
    Flag.withDescription("Send the older X-Signature as well. It has to be given at every change"),
    Flag.withDefault(false)
  ),
  ...disclosureFlags,
  json: jsonFlag
}

interface Flags {
  readonly id: string
  readonly url: Option.Option<string>
  readonly key: Parameters<typeof asOperator>[0]["key"]
  readonly tenant: Option.Option<string>
  readonly accounts: ReadonlyArray<string>
  readonly overlap: Option.Option<number>
  readonly bodySignature: boolean
  readonly show: boolean
  readonly out: Option.Option<string>
  readonly json: boolean
}

/** Without a secret the server makes one. */
const put = (given: Flags, secret: string | undefined) =>
  Effect.scoped(Effect.gen(function*() {
    const { tenantId, ...connected } = yield* asOperator(given)
    const kept = yield* disclosure(given, "The secret", secret === undefined)
    const overlap = Option.getOrUndefined(given.overlap)
    const settings: SecretSettings = {
      ...(secret === undefined ? {} : { secret }),
      ...(given.accounts.length === 0 ? {} : { accounts: given.accounts }),
      ...(overlap === undefined ? {} : { overlapSeconds: overlap }),
      ...(given.bodySignature ? { bodySignature: true } : {})
    }
    const made = yield* called((signal) => new OperatorClient(connected).putSecret(tenantId, given.id, settings, { signal }))
    yield* kept.keep(made.secret)
    yield* answer(given.json, {
      json: { hmacSecretId: made.hmacSecretId, ...(kept.isShown ? { secret: made.secret } : {}) },
      text: `${made.hmacSecretId} signs from now on.${kept.told}${kept.isShown ? `\n${made.secret}` : ""}`
    })
  }))

const putCommand = Command.make(
  "put",
  { ...flags, ...secretFlags },
  Effect.fnUntraced(function*(given) {
    const [secret, ...others] = yield* secretsFrom(given)
    if (others.length > 0) return yield* unusable("That is more than one secret. Give the one that signs from now on.")
    yield* put(given, secret)
  })
).pipe(
  Command.withDescription("Register a secret of your own, or let the server make one. One that is there already is rotated"),
  Command.withExamples([
    { command: "waybill secrets put main --tenant acme --secret-file webhook-secret", description: "Your own" },
    { command: "waybill secrets put client:shipper-tms --tenant acme --out webhook-secret", description: "A new one, for a client that names none" }
  ])
)

const rotateCommand = Command.make("rotate", flags, (given) => put(given, undefined)).pipe(
  Command.withDescription("Put a new secret in front of the one there is. Both sign until the overlap ends"),
  Command.withExamples([
    { command: "waybill secrets rotate main --tenant acme --overlap-seconds 604800 --out new-secret", description: "Receivers have a week to change" }
  ])
)

export const secretsCommand = Command.make("secrets").pipe(
  Command.withDescription("Register and rotate the secrets that sign webhooks"),
  Command.withSubcommands([putCommand, rotateCommand])
)
