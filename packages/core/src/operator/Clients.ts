/** The clients of a tenant: lists and removes them, and processes access that expired. */
import { Context, Effect, Exit, Layer, Option, Schema } from "effect"
import { ClientNotFound } from "../access/AccessErrors.ts"
import { accountOfGrant } from "../access/model/CarrierNumbers.ts"
import { AccessStore, type ListedClient } from "../access/AccessStore.ts"
import { reviewClient } from "../access/ClientReview.ts"
import { clientNamed, keyNameOf } from "../access/model/Client.ts"
import { roles } from "../access/model/Principal.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { instantOrNull, InstantText } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { Count } from "../shared/Members.ts"
import { defaultListLimit, ListCursor, ListLimit, type ListPage, namedListPage } from "../shared/ListPage.ts"
import { monotonicMillis } from "../shared/MonotonicTime.ts"
import { NoticeStore } from "../notices/NoticeStore.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { TenantSweep } from "../shared/TenantSweep.ts"
import { blockedMillis, withTimeLimit } from "../shared/TimeLimit.ts"
import { UniqueIds } from "../shared/UniqueIds.ts"
import { Subscriptions } from "./Subscriptions.ts"

/** A page of a tenant's clients, by name. */
export const ClientListQuery = Schema.Struct({ cursor: ListCursor, limit: ListLimit })

/** A client in a list. Instants are UTC text. */
export const ClientView = Schema.Struct({
  client: Schema.String.annotate({ description: "key:<name>, or jwt:<issuer>:<sub> of a token." }),
  accounts: Schema.Array(Schema.String),
  roles: Schema.Array(Schema.Literals(roles)),
  keys: Count.annotate({ description: "Keys that are neither revoked nor expired." }),
  subscriptions: Count.annotate({ description: "Of all areas." }),
  lastSeenAt: Schema.NullOr(InstantText).annotate({ description: "Written about once a minute." }),
  state: Schema.Literals(["live", "held"]).annotate({ description: "held: it has no access at present, so nothing is sent, and new entries wait." })
}).annotate({ identifier: "Client" })
export type ClientView = typeof ClientView.Type

/** Subscriptions closed per step, before the remaining ones are read again. */
const stepSize = 100

/** Subscriptions that a removal closes before it returns. Background work closes the rest; nothing is sent in the meantime. */
const closedAtOnce = 1_000

const sweepMillis = 15_000

/** Clients of one tenant that a step reviews, at most. It begins none after `blockedMillis`. */
const clientsPerStep = 10

/** Longer than a removal of `closedAtOnce` subscriptions. One that ends early is continued. */
const reviewMillis = 60_000

/** Lists clients, ends their access, and closes subscriptions whose client has had no access for 30 days. */
export class Clients extends Context.Service<Clients, {
  /** Lists clients by name. */
  readonly list: (tenantId: string, query?: typeof ClientListQuery.Encoded) => Effect.Effect<ListPage<ClientView>, InvalidInput | StorageError>
  /** Revokes the client's keys, closes its subscriptions, drops waiting entries and deletes its access. `client`: bare or qualified. */
  readonly remove: (tenantId: string, client: string) => Effect.Effect<void, ClientNotFound | StorageError>
  /** Applies access that expired and continues removals. Returns the number of clients that were processed. One that fails does not keep the others waiting. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/operator/Clients") {
  static readonly layer = Layer.effect(Clients, Effect.gen(function*() {
    const access = yield* AccessStore
    const queue = yield* DeliveryQueue
    const transaction = yield* Transaction
    const subscriptions = yield* Subscriptions
    const ids = yield* UniqueIds
    const notices = yield* NoticeStore

    const list = Effect.fn("Clients.list")(function*(tenantId: string, input: unknown = {}) {
      const { cursor, limit = defaultListLimit } = yield* decodeQuery(input)
      const isClient = (text: string) => clientNamed(text) === text
      return yield* namedListPage({ read: (range) => access.pageClients(tenantId, range), idOf: ({ client }) => client, shown: viewOf }, isClient, cursor, limit)
    })

    const mark = Effect.fnUntraced(function*(tenantId: string, client: string) {
      const through = yield* ids.next
      yield* access.markEnding(tenantId, client, through)
      return through
    })

    /** Closes subscriptions of a marked client, each in its own transaction. Returns whether none is left. One that fails does not keep the others open. */
    const close = Effect.fnUntraced(function*(tenantId: string, client: string, through: string, limit: number) {
      let failure: StorageError | undefined
      let after: string | undefined
      for (let looked = 0; looked < limit;) {
        const { destinations } = yield* queue.destinations(tenantId, { client, state: undefined, after, limit: Math.min(stepSize, limit - looked) })
        // ids have the time of the process that created them, whose clock may be ahead. A client without access has created none since
        const isBack = (yield* access.findClientState(tenantId, client)) === "live"
        const due = isBack ? destinations.filter(({ destinationId }) => destinationId <= through) : destinations
        if (due.length === 0) return failure === undefined ? true : yield* failure
        for (const { destinationId } of due) {
          yield* subscriptions.remove(tenantId, destinationId).pipe(Effect.catchTags({
            DestinationNotFound: () => Effect.void,
            StorageError: (error) => Effect.sync(() => void (failure ??= error))
          }))
        }
        after = due.at(-1)!.destinationId
        looked += due.length
        yield* Effect.yieldNow
      }
      return failure === undefined ? false : yield* failure
    })

    /** Deletes a client whose subscriptions are closed, unless it got access again meanwhile. */
    const finish = (tenantId: string, client: string) =>
      transaction.run(Effect.gen(function*() {
        yield* access.lockKeys(tenantId)
        const { now, rows } = yield* access.clientRows(tenantId, client)
        if (rows.some(({ liveUntil }) => liveUntil > now)) yield* access.markEnding(tenantId, client, undefined)
        else {
          yield* access.dropClient(tenantId, client)
          yield* notices.setContacts(tenantId, client, { email: undefined, emailKinds: undefined, webhookId: undefined, webhookKinds: undefined })
        }
      }))

    const end = Effect.fnUntraced(function*(tenantId: string, client: string, through: string, limit: number) {
      if (yield* close(tenantId, client, through, limit)) yield* finish(tenantId, client)
    })

    const remove = Effect.fn("Clients.remove")(function*(tenantId: string, named: string) {
      const client = clientNamed(named)
      if (client === undefined) return yield* new ClientNotFound({ client: named.slice(0, 200) })
      const through = yield* transaction.run(Effect.gen(function*() {
        yield* access.lockKeys(tenantId)
        const { rows } = yield* access.clientRows(tenantId, client)
        const { destinations } = yield* queue.destinations(tenantId, { client, state: undefined, after: undefined, limit: 1 })
        if (rows.length === 0 && destinations.length === 0) return yield* new ClientNotFound({ client })
        const name = keyNameOf(client)
        if (name !== undefined) yield* access.revokeKeysOf(tenantId, name)
        return yield* mark(tenantId, client)
      }))
      yield* end(tenantId, client, through, closedAtOnce)
    })

    const review = Effect.fnUntraced(function*(tenantId: string, client: string) {
      const through = yield* transaction.run(Effect.gen(function*() {
        yield* access.lockKeys(tenantId)
        const status = yield* reviewClient(access, tenantId, client)
        if (status === "expired") return Option.some(yield* mark(tenantId, client))
        return status === "ending" ? Option.fromUndefinedOr((yield* access.clientRows(tenantId, client)).endingThrough) : Option.none<string>()
      }))
      if (Option.isSome(through)) yield* end(tenantId, client, through.value, closedAtOnce)
    })

    /** The client at which the last step of a tenant ended. */
    const positions = new Map<string, string>()

    const step = Effect.fnUntraced(function*(tenantId: string) {
      const due = yield* access.clientsDue(tenantId, { after: positions.get(tenantId), limit: clientsPerStep })
      const startedAt = yield* monotonicMillis
      const exits: Array<Exit.Exit<void, StorageError>> = []
      for (const client of due) {
        exits.push(yield* Effect.exit(withTimeLimit("Clients.review", review(tenantId, client), reviewMillis)))
        // one that fails is not the first one again
        positions.set(tenantId, client)
        if ((yield* monotonicMillis) - startedAt >= blockedMillis) break
      }
      const more = exits.length === clientsPerStep || exits.length < due.length
      if (!more) positions.delete(tenantId)
      yield* exits.find(Exit.isFailure) ?? Effect.void
      return { done: exits.length, more }
    })

    const sweep = new TenantSweep("Clients' access not reviewed", { tenants: access.tenantsWithClientsDue, step, stepMillis: blockedMillis + 2 * reviewMillis })

    return Clients.of({ list, remove, sweep: Effect.withSpan(sweep.sweep, "Clients.sweep"), run: sweep.run(Effect.succeed(sweepMillis)) })
  }))
}

const decodeQuery = decodeInput(ClientListQuery, { closed: true })

const viewOf = ({ accounts, client, keys, lastSeenAt, live, roles, subscriptions }: ListedClient): ClientView => ({
  client,
  // the list also contains grants of a carrier with a number, which are not accounts
  accounts: [...new Set(accounts.flatMap((held) => accountOfGrant(held) ?? []))],
  roles,
  keys,
  subscriptions,
  lastSeenAt: instantOrNull(lastSeenAt),
  state: live ? "live" : "held"
})
