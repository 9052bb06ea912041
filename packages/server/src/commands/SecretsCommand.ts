/** `waybill secrets`: signing secrets of webhooks. */
import type { Secret, SecretSettings } from "@waybill/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { observed, readConfig } from "./ServeCommand.ts"
import { resealAll } from "./shared/ResealAll.ts"
import { disclosure, disclosureFlags } from "./shared/Disclosure.ts"
import { allOf, commandGroup, given, tenantCommand } from "./shared/OperatorCommands.ts"
import { CommandFailed, exitCodes, failed, usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printResult, printRows } from "./shared/Output.ts"
import { printable } from "../Printable.ts"
import { callServer, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"
import { secretFlags, secretsFrom } from "./shared/WebhookSecrets.ts"

const idArgument = Argument.String("secretId").pipe(
  Argument.withDescription("Name that subscriptions use; client:<name> belongs to that client and signs when a subscription names none")
)

const flags = {
  id: idArgument,
  ...operatorFlags,
  client: Flag.String("client").pipe(Flag.withDescription("Client that owns it: a key's name, or jwt:<issuer>:<sub>"), Flag.optional),
  accounts: Flag.String("account").pipe(
    Flag.withDescription("Account whose clients own it; can be given several times"),
    Flag.atLeast(0)
  ),
  anyClient: Flag.Boolean("any-client").pipe(Flag.withDescription("Every client of the tenant owns it"), Flag.withDefault(false)),
  overlap: Flag.Int("overlap-seconds").pipe(Flag.withDescription("How long the previous secret keeps signing; default: one day"), Flag.optional),
  bodySignature: Flag.Boolean("body-signature").pipe(
    Flag.withDescription("Send the older X-Signature as well"),
    Flag.withDefault(false)
  ),
  ...disclosureFlags,
  json: jsonFlag
}

type Flags = Command.Command.Config.Infer<typeof flags>

const settingsOf = ({ accounts, anyClient, bodySignature, client, overlap }: Flags): SecretSettings => ({
  ...given({ client, overlapSeconds: overlap }),
  ...(accounts.length === 0 ? {} : { accounts }),
  ...(anyClient ? { anyClient } : {}),
  ...(bodySignature ? { bodySignature } : {})
})

/** Without a secret, the server generates one. */
const put = (values: Flags, secret: string | undefined) =>
  Effect.scoped(Effect.gen(function*() {
    const { operator, tenantId } = yield* operatorOfTenant(values)
    const kept = yield* disclosure(values, "The secret", secret === undefined)
    const settings = { ...settingsOf(values), ...(secret === undefined ? {} : { secret }) }
    const made = yield* callServer((signal) => operator.putSecret(tenantId, values.id, settings, { signal }))
    yield* kept.keep(made.secret)
    yield* printResult(values.json, {
      json: { hmacSecretId: made.hmacSecretId, ...(kept.isShown ? { secret: made.secret } : {}) },
      text: `${made.hmacSecretId} signs from now on.${kept.note}${kept.isShown ? `\n${made.secret}` : ""}`
    })
  }))

/** Changes only the owner, so there is no secret to disclose. */
const change = Effect.fnUntraced(function*(values: Flags) {
  if (values.show || Option.isSome(values.out) || Option.isSome(values.overlap)) return yield* usageError("With --no-rotate no secret is made. Leave --out, --show and --overlap-seconds out.")
  const { operator, tenantId } = yield* operatorOfTenant(values)
  const settings = { ...settingsOf(values), rotate: false as const }
  const { hmacSecretId } = yield* callServer((signal) => operator.putSecret(tenantId, values.id, settings, { signal }))
  yield* printResult(values.json, { json: { hmacSecretId }, text: `${hmacSecretId} is changed. The secret is the same as before.` })
})

const putCommand = Command.make(
  "put",
  {
    ...flags,
    ...secretFlags,
    noRotate: Flag.Boolean("no-rotate").pipe(Flag.withDescription("Change only the owner and --body-signature of an existing secret"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function*(given) {
    if (given.noRotate) {
      if (Option.isSome(given.secret) || Option.isSome(given.secretFile)) return yield* usageError("With --no-rotate the secret stays. Leave --secret and --secret-file out.")
      return yield* change(given)
    }
    const [secret, ...others] = yield* secretsFrom(given)
    if (others.length > 0) return yield* usageError("That is more than one secret. Give the one that signs from now on.")
    yield* put(given, secret)
  })
).pipe(
  Command.withDescription("Register your own secret, or let the server generate one. A new secret needs an owner: --client, --account or --any-client. An existing one is rotated"),
  Command.withExamples([
    { command: "waybill secrets put main --tenant acme --client shipper-tms --secret-file webhook-secret", description: "Your own" },
    { command: "waybill secrets put client:shipper-tms --tenant acme --out webhook-secret", description: "A generated one, for a client whose subscriptions name none" },
    { command: "waybill secrets put main --tenant acme --account A-1 --no-rotate", description: "The same secret for another owner" }
  ])
)

/** The call of the server would register a misspelled id as a new secret, or ask for its owner. */
const rotate = Effect.fnUntraced(function*(values: Flags) {
  const { operator, tenantId } = yield* operatorOfTenant(values)
  const secrets = yield* callServer((signal) => allOf((page) => operator.allSecrets(tenantId, page, { signal })))
  if (!secrets.some(({ hmacSecretId }) => hmacSecretId === values.id)) {
    return yield* new CommandFailed({ message: `No secret ${printable(values.id)} in this tenant. waybill secrets list shows all; waybill secrets put registers a new one.`, code: exitCodes.refused })
  }
  yield* put(values, undefined)
})

const rotateCommand = Command.make("rotate", flags, rotate).pipe(
  Command.withDescription("Add a new secret. The previous one keeps signing until the overlap ends"),
  Command.withExamples([
    { command: "waybill secrets rotate main --tenant acme --overlap-seconds 604800 --out new-secret", description: "With an overlap of one week" }
  ])
)

const ownerOf = ({ accounts, anyClient, client }: Secret): string => anyClient ? "any client" : client ?? `accounts ${accounts.join(", ")}`

const secretRow = (secret: Secret): ReadonlyArray<string> =>
  [secret.hmacSecretId, ownerOf(secret), secret.rotatedAt ?? secret.createdAt, secret.signsUntil ?? "", String(secret.usedBy)].map(printable)

const listCommand = tenantCommand("list", {
  description: "List secrets with their owners and number of subscriptions. Never prints a secret",
  examples: [{ command: "waybill secrets list --tenant acme", description: "Of one tenant" }],
  flags: {},
  call: ({ operator, tenantId }, _, options) => allOf((page) => operator.allSecrets(tenantId, page, options)),
  print: (asJson, secrets) =>
    printRows(asJson, secrets, secretRow, "No secret yet. Create one: waybill secrets put <secretId> --client <name>.", [["SECRET", "OWNER", "SINCE", "OLDER SIGN UNTIL", "USED BY"]])
})

const deleteCommand = tenantCommand("delete", {
  description: "Delete a secret that no subscription uses",
  examples: [{ command: "waybill secrets delete old --tenant acme", description: "An obsolete secret" }],
  flags: { id: idArgument },
  call: ({ operator, tenantId }, { id }, options) => operator.deleteSecret(tenantId, id, options),
  print: (asJson, _, { id }) => printResult(asJson, { json: { hmacSecretId: id, deleted: true }, text: `${id} is deleted.` })
})

/** Works on the database, because it needs the sealing keys. */
const resealCommand = Command.make(
  "reseal",
  { json: jsonFlag },
  Effect.fnUntraced(function*({ json }) {
    const config = yield* readConfig
    if (config.sealingKeys === undefined) return yield* usageError("Set WAYBILL_SEALING_KEY to the new key and the old one, as new,old.")
    const result = yield* resealAll(config, config.sealingKeys).pipe(Effect.scoped, Effect.provide(observed(config)))
    const { resealed, unchanged, unreadable } = result
    yield* printResult(json, {
      json: result,
      text: `${counted(resealed, "secret")} sealed again with the first key, ${unchanged} unchanged.`
    })
    if (unreadable.length > 0) {
      const { hmacSecretId, tenantId } = unreadable[0]!
      return yield* failed(`${counted(unreadable.length, "secret")} cannot be opened, such as ${printable(hmacSecretId)} of ${tenantId}. Add the key that sealed them: WAYBILL_SEALING_KEY=new,old.`)
    }
  })
).pipe(
  Command.withDescription("Seal every stored secret with the first sealing key, so that older ones can be taken away. Needs the server's variables"),
  Command.withExamples([{ command: "WAYBILL_SEALING_KEY=$NEW,$OLD waybill secrets reseal", description: "After every process has both keys" }])
)

export const secretsCommand = commandGroup("secrets", "Register, rotate, list, delete and seal again the secrets that sign webhooks", [putCommand, rotateCommand, listCommand, deleteCommand, resealCommand])
