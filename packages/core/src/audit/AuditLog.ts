/** Records operator calls and intake calls. */
import { Clock, Context, Effect, type Exit, Layer, Scope } from "effect"
import { qualifiedClient } from "../access/model/Client.ts"
import { compareText } from "../shared/CodePoints.ts"
import { formatInstant, parseInstant } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { LineLimiter } from "../shared/LineLimiter.ts"
import { defaultListLimit, type ListPage, listPage } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { logUnwritten, writeOfTenants } from "../shared/WriteOfTenants.ts"
import { firstIdAt, UniqueIds } from "../shared/UniqueIds.ts"
import { AuditStore } from "./AuditStore.ts"
import { type AuditCall, type AuditEntry, type AuditOutcome, AuditQuery, type AuditRecord } from "./model/AuditEntry.ts"

/** How long an intake entry waits for others, so that they are written together. */
const gatherMillis = 1_000

/** Most waiting entries. Further entries are lost, and the log reports their number. */
const maxWaiting = 10_000

/** Callers choose ids and names, so control characters are replaced and long text is cut. */
const bounded = (text: string): string => plain.test(text) ? text : text.replaceAll(/[\p{Cc}\p{Cs}]/gu, "?").slice(0, 500)

/** A cheap test that nearly every text passes, because intake calls are frequent. */
const plain = /^[\x20-\x7e]{0,500}$/

/** Records every write of operators and intake, refused ones too, and every read of a delivery's body. */
export class AuditLog extends Context.Service<AuditLog, {
  /**
   * Runs a call whose entry is mandatory. The entry is written before the call with status 0, and updated with the outcome. If it cannot
   * be written, the call does not run.
   */
  readonly around: <A, E, R>(
    call: AuditCall,
    effect: Effect.Effect<A, E, R>,
    outcomeOf: (exit: Exit.Exit<A, E>) => AuditOutcome
  ) => Effect.Effect<A, E | StorageError, R>
  /**
   * Records an entry, which is written within a second together with others. Of one caller's equal refusals, one per second is recorded,
   * so that refused calls cannot flood the log.
   */
  readonly later: (call: AuditCall, outcome: AuditOutcome) => Effect.Effect<void>
  /** Lists entries, newest first. */
  readonly list: (query?: typeof AuditQuery.Encoded) => Effect.Effect<ListPage<AuditEntry>, InvalidInput | StorageError>
}>()("@waybill/core/audit/AuditLog") {
  static readonly layer = Layer.effect(AuditLog, Effect.gen(function*() {
    const store = yield* AuditStore
    const ids = yield* UniqueIds
    const scope = yield* Scope.Scope
    const decodeQuery = decodeInput(AuditQuery, { closed: true })
    const lines = new LineLimiter()
    let waiting: Array<AuditRecord> = []
    const refusals = new Set<string>()
    let lost = 0

    const recordOf = (call: AuditCall, { objectId, status }: AuditOutcome, id: string, at: number): AuditRecord => ({
      id,
      at,
      actor: { kind: call.actor.kind, name: bounded(call.actor.name) },
      address: call.address === undefined ? undefined : bounded(call.address),
      action: call.action,
      tenantId: bounded(call.tenantId),
      object: { kind: call.object.kind, id: bounded(objectId ?? call.object.id) },
      requestId: bounded(call.requestId),
      result: status < 400 ? "ok" : "refused",
      status
    })

    /** Writes what waits, and returns what could not be written. */
    const write = Effect.suspend(() => {
      const records = waiting
      const missing = lost
      waiting = []
      refusals.clear()
      lost = 0
      const reportLost = missing === 0 ? Effect.void : Effect.logError(`Audit log full: ${missing} entries of intake calls lost.`)
      return Effect.andThen(reportLost, writeOfTenants(Map.groupBy(records, ({ tenantId }) => tenantId), (_, own) => store.put(own)))
    })

    /** What could not be written waits again, up to the same number: the database may be away for minutes. */
    const flush: Effect.Effect<void> = Effect.suspend(() => Effect.flatMap(write, (unwritten) => {
      if (unwritten.length === 0) return Effect.void
      const again = unwritten.flatMap(({ gathered }) => gathered)
      const isScheduled = waiting.length > 0
      const room = Math.max(maxWaiting - waiting.length, 0)
      lost += Math.max(again.length - room, 0)
      waiting = [...again.slice(0, room), ...waiting]
      const retried = isScheduled ? Effect.void : schedule
      return Effect.andThen(logUnwritten(unwritten, (error) => lines.log("Audit log", Effect.logWarning("Audit log write failed, trying again.", error))), retried)
    }))

    const schedule = Effect.suspend(() => Effect.asVoid(Effect.forkIn(Effect.delay(flush, gatherMillis), scope)))

    yield* Scope.addFinalizer(scope, Effect.flatMap(write, (unwritten) => {
      const count = unwritten.reduce((sum, { gathered }) => sum + gathered.length, 0)
      return logUnwritten(unwritten, (error) => Effect.logError(`Audit log write failed: ${count} entries of intake calls lost.`, error))
    }))

    const around = Effect.fnUntraced(function*<A, E, R>(
      call: AuditCall,
      effect: Effect.Effect<A, E, R>,
      outcomeOf: (exit: Exit.Exit<A, E>) => AuditOutcome
    ) {
      const at = yield* Clock.currentTimeMillis
      const id = ids.nextAt(at)
      yield* store.put([recordOf(call, { status: 0 }, id, at)])
      return yield* Effect.onExit(effect, (exit) =>
        Effect.catchTag(store.put([recordOf(call, outcomeOf(exit), id, at)]), "StorageError", (error) =>
          Effect.logError(`Audit log write failed: the entry of ${call.action} keeps status 0.`, error)))
    })

    const later = (call: AuditCall, outcome: AuditOutcome) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => {
        if (outcome.status >= 400) {
          const refusalKey = JSON.stringify([call.actor, call.tenantId, call.action, outcome.status])
          if (refusals.has(refusalKey)) return Effect.void
          refusals.add(refusalKey)
        }
        if (waiting.length >= maxWaiting) {
          lost += 1
          return Effect.void
        }
        waiting.push(recordOf(call, outcome, ids.nextAt(at), at))
        return waiting.length > 1 ? Effect.void : schedule
      })

    const list = Effect.fn("AuditLog.list")(function*(input: unknown = {}) {
      const { actor, cursor, limit = defaultListLimit, since, tenant } = yield* decodeQuery(input)
      const filter = {
        tenantId: tenant === undefined ? undefined : bounded(tenant),
        from: since === undefined ? undefined : firstIdAt(parseInstant(since)!)
      }
      // a bare name is an operator's, and that of a client of API keys
      const names = actor === undefined ? [undefined] : [...new Set([bounded(actor), bounded(qualifiedClient(actor))])]
      return yield* listPage({
        read: ({ after: before, limit }) =>
          Effect.map(Effect.forEach(names, (name) => store.page({ ...filter, actor: name, before, limit })), (pages) =>
            pages.flat().sort((a, b) => compareText(b.id, a.id)).slice(0, limit)),
        idOf: ({ id }) => id,
        shown
      }, cursor, limit)
    })

    return AuditLog.of({ around, later, list })
  }))
}

const shown = ({ action, actor, address, at, object, requestId, result, status, tenantId }: AuditRecord): AuditEntry => ({
  at: formatInstant(at),
  actor,
  address: address ?? null,
  action,
  tenantId: tenantId === "" ? null : tenantId,
  object,
  result,
  status,
  requestId
})
