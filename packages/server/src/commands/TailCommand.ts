/** `waybill tail`: follows deliveries. */
import type { Delivery } from "@waybill/client"
import { Console, Effect, Option } from "effect"
import * as Clock from "effect/Clock"
import { Command, Flag } from "effect/cli"
import { outcomeOf } from "./shared/Deliveries.ts"
import { instantFlag } from "./shared/Instants.ts"
import { type CommandFailed, exitCodes, usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printProgress, whileRead } from "./shared/Output.ts"
import { printable } from "../Printable.ts"
import { callServer, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

/** A delivery can become visible up to this much later than others with the same creation time. */
const overlapMillis = 10_000

/** Maximum number of deliveries in progress that are fetched one by one per round. */
const mostAsked = 100

interface Known {
  readonly deliveryId: string
  readonly createdAt: number
  readonly seen: string
  readonly attempts: number
  readonly settled: boolean
  readonly nextAttemptAt: number | undefined
}

const isSettled = ({ state }: Delivery): boolean => state !== "sending" && state !== "waiting"

const markOf = ({ attempts, settledAt, state }: Delivery): string => `${state} ${attempts.length} ${settledAt}`

/** Tracks which deliveries changed since they were last printed. */
class Tail {
  readonly #known = new Map<string, Known>()
  #since: number

  constructor(since: number) {
    this.#since = since
  }

  /** Deliveries created at or after this time are listed in every round. */
  get since(): Date {
    return new Date(this.#since)
  }

  /** Older deliveries that may have changed. A manual retry shows once its attempt has ended. */
  due(now: number): ReadonlyArray<string> {
    return [...this.#known.values()]
      .filter(({ createdAt, nextAttemptAt, settled }) => !settled && createdAt < this.#since && (nextAttemptAt === undefined || nextAttemptAt <= now))
      .slice(0, mostAsked)
      .map(({ deliveryId }) => deliveryId)
  }

  /** Whether the delivery changed, and how many of its attempts were printed before. */
  look(delivery: Delivery): { readonly changed: boolean; readonly printed: number } {
    const before = this.#known.get(delivery.deliveryId)
    const seen = markOf(delivery)
    // Move it to the end, so that the least recently fetched delivery comes first.
    this.#known.delete(delivery.deliveryId)
    this.#known.set(delivery.deliveryId, {
      deliveryId: delivery.deliveryId,
      createdAt: Date.parse(delivery.createdAt),
      seen,
      attempts: delivery.attempts.length,
      settled: isSettled(delivery),
      nextAttemptAt: delivery.nextAttemptAt === null ? undefined : Date.parse(delivery.nextAttemptAt)
    })
    return { changed: before?.seen !== seen, printed: before?.attempts ?? 0 }
  }

  /** The delivery no longer exists: its retention ended. */
  forget(deliveryId: string): void {
    this.#known.delete(deliveryId)
  }

  /** Ends a round: forgets settled deliveries that will not be listed again. */
  advance(newest: number): void {
    this.#since = Math.max(this.#since, newest - overlapMillis)
    for (const { createdAt, deliveryId, settled } of this.#known.values()) if (settled && createdAt < this.#since) this.#known.delete(deliveryId)
  }
}

/** One line for each new attempt, or one for the state when there is none. */
const linesOf = (delivery: Delivery, printed: number): ReadonlyArray<string> => {
  const { deliveryId, state, subscriptionId } = delivery
  const about = `${deliveryId}  of ${subscriptionId}  ${counted(delivery.events, "entry", "entries")}`
  const added = delivery.attempts.slice(printed)
  if (added.length === 0) return [printable(`${delivery.settledAt ?? delivery.createdAt}  ${state.padEnd(9)}  ${about}`)]
  return added.map((attempt, index) => {
    const isLast = index === added.length - 1
    const shown = attempt.outcome === "accepted" ? "delivered" : isLast ? state : "waiting"
    const next = isLast && state === "waiting" && delivery.nextAttemptAt !== null ? `, next ${delivery.nextAttemptAt}` : ""
    const detail = attempt.detail === null ? "" : `, ${attempt.detail}`
    return printable(`${attempt.at}  ${shown.padEnd(9)}  ${about}  attempt ${attempt.attempt}: ${outcomeOf(attempt)} in ${attempt.durationMillis} ms${detail}${next}`)
  })
}

/** The server's clock, which sets `createdAt`. Falls back to the local clock. */
const clockOf = async (baseUrl: string, signal: AbortSignal): Promise<number> => {
  const response = await fetch(new URL("healthz", baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`), { signal, redirect: "manual" }).catch(() => undefined)
  const at = Date.parse(response?.headers.get("date") ?? "")
  return Number.isNaN(at) ? Date.now() : at
}

export const tailCommand = Command.make(
  "tail",
  {
    ...operatorFlags,
    subscription: Flag.String("subscription").pipe(Flag.withDescription("Only deliveries of this subscription"), Flag.optional),
    failures: Flag.Boolean("failures").pipe(Flag.withDescription("Only deliveries whose last attempt failed"), Flag.withDefault(false)),
    since: instantFlag("since").pipe(Flag.withDescription("Start with deliveries created since then, such as 15m; default: now"), Flag.optional),
    interval: Flag.Finite("interval").pipe(Flag.withDescription("Poll interval in seconds; default 1"), Flag.withDefault(1)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*(flags) {
    if (!(flags.interval >= 0.1 && flags.interval <= 3600)) return yield* usageError("--interval is a number of seconds from 0.1 to 3600.")
    const { baseUrl, operator, tenantId } = yield* operatorOfTenant(flags)
    const subscriptionId = Option.getOrUndefined(flags.subscription)
    const since = Option.isSome(flags.since) ? flags.since.value.getTime() : yield* callServer((signal) => clockOf(baseUrl, signal))
    const tail = new Tail(since)

    const print = Effect.fnUntraced(function*(delivery: Delivery) {
      const { changed, printed } = tail.look(delivery)
      const last = delivery.attempts.at(-1)
      if (!changed || (flags.failures && (last === undefined || last.outcome === "accepted"))) return
      if (flags.json) return yield* Console.log(JSON.stringify(delivery))
      for (const line of linesOf(delivery, printed)) yield* Console.log(line)
    })

    const round = Effect.gen(function*() {
      let newest = 0
      let cursor: string | undefined
      do {
        const page = yield* callServer((signal) => operator.listDeliveries(tenantId, { since: tail.since, subscriptionId, order: "oldest", limit: 500, cursor }, { signal }))
        for (const delivery of page.data) {
          newest = Math.max(newest, Date.parse(delivery.createdAt))
          yield* print(delivery)
        }
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      for (const deliveryId of tail.due(yield* Clock.currentTimeMillis)) {
        const found = yield* callServer((signal) => operator.getDelivery(tenantId, deliveryId, { signal })).pipe(
          Effect.catchTag("CommandFailed", (error) => error.code === exitCodes.refused ? Effect.succeed(undefined) : Effect.fail(error))
        )
        if (found === undefined) {
          tail.forget(deliveryId)
          continue
        }
        // The same members as in a list.
        const { body: _body, endpointUrl: _endpointUrl, ...delivery } = found
        yield* print(delivery)
      }
      tail.advance(newest)
    })

    // The first round fails on a wrong key or tenant. Later, an unreachable server may come back.
    yield* round
    yield* printProgress(`Following deliveries of ${tenantId}. Ctrl-C ends it.`)
    let outage: CommandFailed | undefined
    for (;;) {
      yield* Effect.sleep(flags.interval * 1000)
      const failure: CommandFailed | undefined = yield* Effect.match(round, { onSuccess: () => undefined, onFailure: (error) => error })
      if (failure !== undefined && failure.code !== exitCodes.unreachable) return yield* failure
      if (failure !== undefined && outage === undefined) yield* printProgress(`${failure.message} Retrying.`)
      if (failure === undefined && outage !== undefined) yield* printProgress("The server is reachable again.")
      outage = failure
    }
  }, whileRead)
).pipe(
  Command.withDescription("Follow deliveries of a tenant: one line per attempt, until Ctrl-C"),
  Command.withExamples([
    { command: "waybill tail --tenant acme", description: "All of them" },
    { command: "waybill tail --tenant acme --failures --since 1h", description: "Deliveries since an hour ago whose last attempt failed, and new ones" },
    { command: "waybill tail --tenant acme --json | jq .deliveryId", description: "As JSON: a delivery each time it changes" }
  ])
)
