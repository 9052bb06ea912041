/** Flags that deliveries and subscriptions are found by, and steps of bulk actions on those that match. */
import { deliveryErrors } from "@waybill/client"
import { Effect, Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { instantFlag } from "./Instants.ts"
import { given } from "./OperatorCommands.ts"
import { printProgress } from "./Output.ts"

export const clientFlag = (what: string) =>
  Flag.String("client").pipe(Flag.withDescription(`Only ${what} of this client: a key's name, or jwt:<issuer>:<sub>`), Flag.optional)

export const endpointFlag = (what: string) =>
  Flag.String("endpoint").pipe(Flag.withDescription(`Only ${what} to this host, such as tms.example or tms.example:8443, or to this whole address`), Flag.optional)

export const errorFlag = (what: string) =>
  Flag.Literals("error", deliveryErrors).pipe(Flag.withDescription(`Only ${what} whose last attempt ended so`), Flag.optional)

export const untilFlag = (what: string) =>
  instantFlag("until").pipe(Flag.withDescription(`Only ${what} created before then, such as 15m, 2h or 2026-11-20T08:15:00Z`), Flag.optional)

export const rangeFault = ({ since, until }: Readonly<Record<"since" | "until", Option.Option<Date>>>): string | undefined =>
  Option.isSome(since) && Option.isSome(until) && until.value < since.value ? "--until is before --since." : undefined

/** Of the commands that act on all dead letters that match. */
export const deadLetterFlags = {
  subscription: Flag.String("subscription").pipe(Flag.withDescription("Only dead letters of this subscription"), Flag.optional),
  client: clientFlag("dead letters"),
  endpoint: endpointFlag("dead letters"),
  error: errorFlag("dead letters"),
  since: instantFlag("since").pipe(Flag.withDescription("Only dead letters created since then"), Flag.optional),
  until: untilFlag("dead letters")
}

export const deadLetterFilterOf = ({ client, endpoint, error, since, subscription, until }: Command.Command.Config.Infer<typeof deadLetterFlags>) =>
  given({ subscriptionId: subscription, client, endpoint, error, since, until })

/** Calls step after step until nothing is left. Each step says how far it got, so that an interrupted run shows what is done. */
export const inSteps = Effect.fnUntraced(function*<Step extends { readonly nextCursor: string | null }, E>(
  call: (cursor: string | undefined) => Effect.Effect<Step, E>,
  progress: (steps: ReadonlyArray<Step>) => string
) {
  const steps: Array<Step> = []
  let cursor: string | undefined
  do {
    const step = yield* call(cursor)
    steps.push(step)
    cursor = step.nextCursor ?? undefined
    if (cursor !== undefined) yield* printProgress(progress(steps))
  } while (cursor !== undefined)
  return steps
})
