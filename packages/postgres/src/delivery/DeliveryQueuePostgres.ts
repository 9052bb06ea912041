/** Destinations, entries and deliveries on Postgres: the worker's side. */
import {
  type ClaimedEntry,
  type ClaimedDestination,
  type ClaimRequest,
  DeliveryQueue,
  type DueDelivery,
  type Freeze,
  type DestinationLease,
  type DestinationSettings,
  type DestinationSettlement,
  type DestinationSigning,
  type Settlement,
  StorageError,
  type WhenDead
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import {
  boolArray,
  type BulkValue,
  float8Array,
  int4Array,
  int8Array,
  PgArray,
  textArray,
  timestamptzArray,
  uuidArray
} from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { HighPriority } from "../client/PgLending.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { statusOf } from "../shared/DestinationStatus.ts"
import { makeDeliveryGate, type UnseenDelivery, type UnseenKey } from "./DeliveryGatePostgres.ts"
import { makeDeliveryLog } from "./DeliveryLogPostgres.ts"
import * as statements from "./DeliveryQueueSql.ts"
import { settle as settling } from "./DeliverySettleSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { liveVersions } from "./SecretStorePostgres.ts"

/** More transactions than ever open destinations of one tenant at the same moment. Their destinations are counted when they commit. */
const destinationsUncommitted = 1000

/** The queue over the tables that hold the bytes of entries. */
export const layer = (sources: ReadonlyArray<PayloadSource>) =>
  Layer.effect(
    DeliveryQueue,
    Effect.gen(function*() {
      const sql = yield* PgClient
      const { quoted: schema } = yield* WaybillSchema
      const claimDestinations = {
        all: statements.claim(schema, sources),
        arrived: statements.claim(schema, sources, "arrived"),
        due: statements.claim(schema, sources, "due")
      }
      const dueDeliveries = statements.dueDeliveries(schema, sources)
      const freezeBatches = statements.freeze(schema)
      const settleOutcomes = settling(schema)
      const gate = makeDeliveryGate(sql, schema, sources)
      const keepLeases = statements.heartbeat(schema)
      const tenantsDue = statements.tenantsDue(schema)
      const nextDue = statements.nextDue(schema)

      const claim = (request: ClaimRequest) =>
        Effect.gen(function*() {
          const rows = yield* unlessDeadlocked(sql.bulk(claimDestinations[request.only ?? "all"], [
            request.tenantId,
            request.maxDestinations,
            uuidArray(request.refill.map((destination) => destination.destinationId)),
            int8Array(request.refill.map((destination) => destination.token)),
            request.leaseMillis,
            request.deliveriesPerDestination,
            request.bytesPerDestination
          ]))
          let destinations = destinationsOf(rows)
          const unseen: Array<UnseenDelivery> = []
          const unsettled = destinations.filter((each) => each.unsettled).map((each) => each.destination)
          if (unsettled.length > 0) {
            const due = yield* sql.bulk(dueDeliveries, [
              request.tenantId,
              uuidArray(unsettled.map((destination) => destination.destinationId)),
              int8Array(unsettled.map((destination) => destination.token)),
              request.deliveriesPerDestination
            ])
            const byDestination = new Map(unsettled.map((destination) => [destination.destinationId, destination.due as Array<DueDelivery>]))
            const leases = new Map(unsettled.map((destination) => [destination.destinationId, destination as DestinationLease]))
            const taken = new Map<string, Set<string>>()
            for (const row of due) {
              const destinationId = row[0] as string
              if (row[10] === true) unseen.push({ destination: leases.get(destinationId)!, deliveryId: row[1] as string })
              else byDestination.get(destinationId)!.push(dueOf(row))
              const keys = taken.get(destinationId) ?? new Set()
              for (const key of row[9] as ReadonlyArray<string>) keys.add(key)
              taken.set(destinationId, keys)
            }
            // sent again by an operator after the first statement looked: what waits behind it in its shipments stays
            destinations = destinations.map((read) => {
              const keys = taken.get(read.destination.destinationId)
              if (keys === undefined) return read
              const waiting = read.destination.waiting.filter(({ key }) => !keys.has(key))
              return waiting.length === read.destination.waiting.length ? read : { ...read, destination: { ...read.destination, waiting, more: true } }
            })
          }
          if (unseen.length > 0) yield* unlessDeadlocked(gate.takeBack(request.tenantId, unseen))
          const unseenKeys = destinations.flatMap((each) => each.unseen)
          const dropped = unseenKeys.length === 0 ? 0 : yield* unlessDeadlocked(gate.drop(request.tenantId, unseenKeys))
          const goesOn = new Set([...unseen, ...unseenKeys].map(({ destination }) => destination.destinationId))
          return {
            now: destinations[0]?.now ?? 0,
            destinations: destinations.map(({ destination }) => goesOn.has(destination.destinationId) ? { ...destination, more: true } : destination),
            crossed: rows.some(([place]) => place === statements.crossedPlace),
            dropped
          }
        }).pipe(withHighPriority, StorageError.refail("DeliveryQueue.claim"))

      const freeze = (tenantId: string, destinations: ReadonlyArray<Freeze>) =>
        unlessDeadlocked(sql.bulk(freezeBatches, freezeValues(tenantId, destinations))).pipe(
          Effect.map((rows) => new Set(rows.map(([destinationId]) => destinationId as string))),
          Effect.mapError((error) => isDivisionByZero(error) ? "Entries that were to be frozen are no longer there; another claim will tell." : error),
          withHighPriority,
          StorageError.refail("DeliveryQueue.freeze")
        )

      const settle = (
        tenantId: string,
        { deliveries, destinations }: { readonly deliveries: ReadonlyArray<Settlement>; readonly destinations: ReadonlyArray<DestinationSettlement> }
      ): Effect.Effect<boolean, StorageError> => {
        const now = atOnce(deliveries)
        if (now.length < deliveries.length) {
          const taken = new Set(now)
          const later = deliveries.filter((each) => !taken.has(each))
          // a dead letter is not seen before its destination is paused: its shipment's next would go out
          const pauses = destinations.filter((each) => each.pause !== undefined).map((each) => ({ ...each, release: undefined }))
          const rest = destinations.map((each) => ({ ...each, pause: undefined }))
          return Effect.andThen(settle(tenantId, { deliveries: now, destinations: pauses }), settle(tenantId, { deliveries: later, destinations: rest }))
        }
        return unlessDeadlocked(sql.bulk(settleOutcomes, settleValues(tenantId, deliveries, destinations))).pipe(
          Effect.map(([row]) => row![0] as boolean),
          withHighPriority,
          StorageError.refail("DeliveryQueue.settle")
        )
      }

      const heartbeat = (tenantId: string, leases: ReadonlyArray<DestinationLease>, leaseMillis: number) =>
        unlessDeadlocked(sql.bulk(
          keepLeases,
          [tenantId, uuidArray(leases.map((destination) => destination.destinationId)), int8Array(leases.map((destination) => destination.token)), leaseMillis]
        )).pipe(
          Effect.map((rows) => new Set(rows.map(([destinationId]) => destinationId as string))),
          withHighPriority,
          StorageError.refail("DeliveryQueue.heartbeat")
        )

      const liveDestinations = (tenantId: string) => Effect.map(sql.bulk(statements.countDestinations(schema), [tenantId], ["int8"]), ([row]) => row![0] as number)

      const countDestinations = Effect.fnUntraced(function*(tenantId: string, limit: number) {
        const live = yield* liveDestinations(tenantId)
        if (live <= limit - destinationsUncommitted) return live
        yield* sql.bulk(statements.lockDestinationCounts(schema), [tenantId], ["int8"])
        return yield* liveDestinations(tenantId)
      })

      return DeliveryQueue.of({
        openDestination: (tenantId, destination) =>
          sql.bulk(statements.openDestination(schema), [
            tenantId,
            ...destinationValues(destination),
            destination.envelope.open,
            destination.envelope.close,
            destination.signing,
            destination.whenDead,
            destination.state,
            destination.client
          ], ["int8"]).pipe(
            Effect.map(([row]) => row![0] as number),
            StorageError.refail("DeliveryQueue.openDestination")
          ),
        countDestinations: (tenantId, limit) => StorageError.refail("DeliveryQueue.countDestinations")(countDestinations(tenantId, limit)),
        changeDestination: (tenantId, destination) => {
          const [destinationId, , ...settings] = destinationValues(destination)
          return sql.bulk(statements.changeDestination(schema), [tenantId, destinationId!, ...settings, destination.state]).pipe(
            Effect.asVoid,
            StorageError.refail("DeliveryQueue.changeDestination")
          )
        },
        closeDestination: (tenantId, destinationId) =>
          sql.withTransaction(Effect.andThen(
            sql.bulk(statements.lockDestination(schema), [tenantId, destinationId], ["uuid"]),
            sql.bulk(statements.closeDestination(schema), [tenantId, destinationId])
          )).pipe(Effect.asVoid, StorageError.refail("DeliveryQueue.closeDestination")),
        accessRestored: (tenantId, client) =>
          sql.bulk(
            statements.accessRestored(schema, client === undefined ? "tenant" : "client"),
            client === undefined ? [tenantId] : [tenantId, client]
          ).pipe(
            Effect.asVoid,
            StorageError.refail("DeliveryQueue.accessRestored")
          ),
        destinationStatus: (tenantId, destinationId) =>
          sql.bulk(
            `SELECT state, state_reason, state_since, paused_by FROM ${schema}.delivery_destinations
             WHERE tenant_id = $1 AND destination_id = $2::uuid AND state <> 'closed'`,
            [tenantId, destinationId],
            ["text", "text", "timestamptz", "text"]
          ).pipe(
            Effect.map(([row]) =>
              row === undefined
                ? Option.none()
                : Option.some(statusOf(row))
            ),
            StorageError.refail("DeliveryQueue.destinationStatus")
          ),
        tenantsDue: (limit) =>
          Effect.gen(function*() {
            // in this order: what becomes due in between is in both answers, not in none
            const [next] = yield* sql.bulk(nextDue, [])
            const rows = yield* sql.bulk(tenantsDue, [limit])
            const millis = next?.[0] as number | null | undefined
            return {
              due: rows.filter(([, arrived]) => arrived === false).map(([tenantId]) => tenantId as string),
              arrived: rows.filter(([, arrived]) => arrived === true).map(([tenantId]) => tenantId as string),
              nextDueInMillis: millis === null || millis === undefined ? undefined : Math.max(1, Math.ceil(millis))
            }
          }).pipe(withHighPriority, StorageError.refail("DeliveryQueue.tenantsDue")),
        claim,
        freeze,
        settle,
        heartbeat,
        ...makeDeliveryLog(sql, schema, sources)
      })
    })
  )

const withHighPriority = Effect.provideService(HighPriority, true)

/**
 * A statement that Postgres ended because of a deadlock has changed nothing, and goes through the next time. All lock destinations in one order, and
 * claims pass over what is locked; but a soak saw a claim and a settlement wait for each other: where a row
 * was updated the moment before, Postgres may follow it and wait in spite of `SKIP LOCKED`.
 */
const unlessDeadlocked = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
  Effect.retry(statement, { times: 3, while: ({ reason }) => reason._tag === "DeadlockError" })

/** What the statement makes of it, see there. */
const isDivisionByZero = ({ reason }: SqlError): boolean => (reason.cause as { readonly code?: unknown } | undefined)?.code === "22012"

type Row = ReadonlyArray<unknown>

const destinationValues = (destination: DestinationSettings): ReadonlyArray<BulkValue> => [
  destination.destinationId,
  destination.source,
  destination.endpointUrl,
  destination.hmacSecretId,
  destination.policy.maxAttempts,
  destination.policy.initialBackoffSeconds,
  destination.policy.maxBackoffSeconds,
  destination.policy.batchMaxSize,
  destination.policy.rateLimitPerMinute
]

interface ReadDestination {
  readonly destination: ClaimedDestination
  readonly unsettled: boolean
  readonly now: number
  /** Keys with something that its client may no longer see. */
  readonly unseen: ReadonlyArray<UnseenKey>
}

/** The first row of a destination describes it; every row that has a key is an entry. */
const destinationsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<ReadDestination> => {
  const destinations = new Map<number, { readonly read: ReadDestination; readonly found: number; readonly entries: Array<ClaimedEntry>; readonly unseen: Set<string> }>()
  for (const row of rows) {
    if (row[1] !== null) destinations.set(row[0] as number, { read: destinationOf(row), found: (row[12] as number | null) ?? 0, entries: [], unseen: new Set() })
  }
  for (const row of rows) {
    // a destination whose first entry has lost its bytes has no first row: it must not stand in the way of the others
    if (row[8] === null) continue
    const destination = destinations.get(row[0] as number)
    if (row[17] === false) destination?.unseen.add(row[8] as string)
    // what comes behind it in its shipment has to wait until it is gone
    else if (destination !== undefined && !destination.unseen.has(row[8] as string)) destination.entries.push(entryOf(row))
  }
  return [...destinations.values()].map(({ entries, found, read, unseen }) => ({
    ...read,
    unseen: [...unseen].map((key): UnseenKey => ({ destination: read.destination, key })),
    destination: {
      ...read.destination,
      waiting: entries,
      more: entries.length < found
    }
  }))
}

const destinationOf = (row: Row): ReadDestination => {
  const [destinationId, endpointUrl, hmacSecretId, open, close, signing, whenDead, client] =
    row[1] as [string, string, string, string, string, DestinationSigning, WhenDead, string]
  const [token, arrivals, maxAttempts, initialBackoffSeconds, maxBackoffSeconds, batchMaxSize, rateLimitPerMinute, failures] =
    row[2] as [number, number, number, number, number, number, number, number]
  const [rateMark, openUntil, now] = row[3] as [number | null, number | null, number]
  return {
    now,
    unsettled: row[7] as boolean,
    unseen: [],
    destination: {
      destinationId,
      client,
      token,
      endpointUrl,
      hmacSecretId,
      secrets: row[4] === null ? [] : liveVersions(row[4] as ReadonlyArray<Uint8Array>, row[5] as ReadonlyArray<number | null>, now),
      bodySignature: row[6] === true,
      secretRefused: row[18] === true,
      signing,
      whenDead,
      policy: { maxAttempts, initialBackoffSeconds, maxBackoffSeconds, batchMaxSize, rateLimitPerMinute },
      envelope: { open, close },
      breaker: { failures, openUntil: openUntil ?? undefined },
      rateMark: rateMark ?? undefined,
      arrivals,
      due: [],
      waiting: [],
      more: false
    }
  }
}

const entryOf = (row: Row): ClaimedEntry => ({
  key: row[8] as string,
  sequence: row[9] as number,
  ref: row[10] as number,
  size: row[11] as number,
  orderId: row[13] as string,
  traceparent: (row[14] as string | null) ?? undefined,
  payload: row[15] as Uint8Array,
  spot: row[16] as string
})

const dueOf = ([, deliveryId, sentAt, attempt, tries, orphaned, events, traceparent, body]: Row): DueDelivery => ({
  deliveryId: deliveryId as string,
  sentAt: sentAt as number,
  attempt: attempt as number,
  tries: tries as number,
  orphaned: orphaned as boolean,
  events: events as number,
  traceparent: (traceparent as string | null) ?? undefined,
  payloads: [body as Uint8Array]
})

const freezeValues = (tenantId: string, destinations: ReadonlyArray<Freeze>): ReadonlyArray<BulkValue> => {
  // places count from 1, as WITH ORDINALITY does
  const fresh = destinations.flatMap((destination, at) => destination.fresh.map((delivery) => ({ ...delivery, place: at + 1 })))
  const taken = fresh.flatMap((delivery) => delivery.entries.map((entry) => ({ entry, place: delivery.place })))
  const again = destinations.flatMap((destination, at) => destination.again.map((deliveryId, n) => ({ deliveryId, tries: destination.againTries?.[n] ?? null, place: at + 1 })))
  return [
    tenantId,
    uuidArray(destinations.map((destination) => destination.destinationId)),
    int8Array(destinations.map((destination) => destination.token)),
    float8Array(destinations.map((destination) => destination.rateMark)),
    textArray(destinations.map((destination) => destination.cursor ?? null)),
    int4Array(taken.map((each) => each.place)),
    textArray(taken.map((each) => each.entry.key)),
    int8Array(taken.map((each) => each.entry.sequence)),
    int8Array(taken.map((each) => each.entry.ref)),
    textArray(taken.map((each) => each.entry.spot ?? null)),
    int4Array(fresh.map((delivery) => delivery.place)),
    uuidArray(fresh.map((delivery) => delivery.deliveryId)),
    textArray(fresh.map((delivery) => `{${delivery.entries.map((entry) => entry.ref).join(",")}}`)),
    textArray(fresh.map((delivery) => new PgArray("text", [...new Set(delivery.entries.map((entry) => entry.key))]).literal())),
    timestamptzArray(fresh.map((delivery) => delivery.sentAt)),
    textArray(fresh.map((delivery) => delivery.traceparent ?? null)),
    int4Array(again.map((each) => each.place)),
    uuidArray(again.map((each) => each.deliveryId)),
    int4Array(again.map((each) => each.tries))
  ]
}

/** Texts are found in a long array by walking it: more outcomes than this are quicker written in parts. */
const outcomesAtOnce = 1000

/** One statement writes each row once: a delivery's later outcomes come after its first. */
const atOnce = (deliveries: ReadonlyArray<Settlement>): ReadonlyArray<Settlement> => {
  const named = new Set<string>()
  return deliveries.filter(({ deliveryId }) => named.size < outcomesAtOnce && named.size < named.add(deliveryId).size)
}

const settleValues = (
  tenantId: string,
  inAnyOrder: ReadonlyArray<Settlement>,
  destinations: ReadonlyArray<DestinationSettlement>
): ReadonlyArray<BulkValue> => {
  const deliveries = [...inAnyOrder].sort((one, other) => one.deliveryId < other.deliveryId ? -1 : 1)
  const places = new Map<string, number>()
  const named: Array<DestinationLease> = []
  const placeOf = (lease: DestinationLease): number => {
    const key = `${lease.destinationId} ${lease.token}`
    let place = places.get(key)
    if (place === undefined) places.set(key, place = named.push(lease))
    return place
  }
  const placed = deliveries.map(placeOf)
  return [
    tenantId,
    uuidArray(named.map((each) => each.destinationId)),
    int8Array(named.map((each) => each.token)),
    uuidArray(deliveries.map((each) => each.deliveryId)),
    textArray(deliveries.map((each) => each.state)),
    float8Array(deliveries.map((each) => each.dueInMillis)),
    boolArray(deliveries.map((each) => each.uncount)),
    textArray(deliveries.map((each) => each.record === undefined ? null : JSON.stringify(each.record))),
    uuidArray(destinations.map((each) => each.destinationId)),
    int8Array(destinations.map((each) => each.token)),
    int4Array(destinations.map((each) => each.breaker.failures)),
    float8Array(destinations.map((each) => each.breaker.openUntil ?? null)),
    textArray(destinations.map((each) => each.pause ?? null)),
    boolArray(destinations.map((each) => each.release !== undefined)),
    int8Array(destinations.map((each) => each.release?.arrivals ?? 0)),
    boolArray(destinations.map((each) => each.release?.progress ?? false)),
    float8Array(destinations.map((each) => each.release?.notBeforeMillis ?? 0)),
    int4Array(placed),
    int4Array(deliveries.map((each) => each.record?.attempt ?? each.attempt ?? null)),
    textArray(destinations.map((each) => each.endpointUrl ?? null))
  ]
}
