/** `waybill portal`: links that open the portal of a customer. */
import type { PortalTheme } from "@waybill/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { disclosure, disclosureFlags } from "./shared/Disclosure.ts"
import { commandGroup, given } from "./shared/OperatorCommands.ts"
import { usageError } from "./shared/Outcome.ts"
import { jsonFlag, printResult } from "./shared/Output.ts"
import { callServer, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const themeOf = (text: string) =>
  Effect.try({
    try: () => JSON.parse(text) as PortalTheme,
    catch: () => usageError("--theme is JSON, such as '{\"name\":\"Acme Freight\",\"accent\":\"#0b5fff\"}'.")
  })

/** Of a server on a port of its own for operators, and of an embedding host. */
const noAddress = " The server does not know the address of its portal's page: set WAYBILL_PUBLIC_URL, or pageUrl of an embedded service, to get a link."

const linkCommand = Command.make(
  "link",
  {
    client: Argument.String("client").pipe(Argument.withDescription("A key's name, or jwt:<issuer>:<sub>")),
    ...operatorFlags,
    expires: Flag.Int("expires-seconds").pipe(Flag.withDescription("How long the link works: 60 to 86,400; default: an hour"), Flag.optional),
    theme: Flag.String("theme").pipe(Flag.withDescription("Name, logo and colors of the page as JSON; other members come from the server's settings"), Flag.optional),
    ...disclosureFlags,
    json: jsonFlag
  },
  ({ client, expires, json, theme: themeText, ...flags }) =>
    Effect.scoped(Effect.gen(function*() {
      const theme = Option.isSome(themeText) ? yield* themeOf(themeText.value) : undefined
      const { operator, tenantId } = yield* operatorOfTenant(flags)
      const kept = yield* disclosure(flags, "The link", true)
      const link = yield* callServer((signal) =>
        operator.createPortalLink(tenantId, {
          client,
          ...given({ expiresInSeconds: expires }),
          ...(theme === undefined ? {} : { theme })
        }, { signal }))
      const opens = link.url ?? link.token
      yield* kept.keep(opens)
      yield* printResult(json, {
        json: { client: link.client, expiresAt: link.expiresAt, ...(kept.isShown ? { url: link.url, token: link.token } : {}) },
        text: `${link.url === null ? "The token" : "The link"} opens the portal of ${link.client} until ${link.expiresAt}.${kept.note}${link.url === null ? noAddress : ""}${kept.isShown ? `\n${opens}` : ""}`
      })
    }))
).pipe(
  Command.withDescription("Create a link that opens a client's portal to everyone who has it"),
  Command.withExamples([
    { command: "waybill portal link shipper-tms --tenant acme --out portal-link", description: "For an hour, into a file that only you can read" },
    { command: "waybill portal link shipper-tms --tenant acme --expires-seconds 86400 --show", description: "For a day, printed" }
  ])
)

export const portalCommand = commandGroup("portal", "Create links to the portal of a customer", [linkCommand])
