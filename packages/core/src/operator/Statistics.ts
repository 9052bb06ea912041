/** Deliveries, failures, latency and waiting entries over time, for the charts of operators. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { qualifiedClient } from "../access/model/Client.ts"
import { hourMillis, minuteMillis, type StatisticsRange, type StatisticsRow, StatisticsStore, totalOf, totals } from "../delivery/statistics/StatisticsStore.ts"
import { keepMinutesMillis } from "../retention/Retention.ts"
import { fault } from "../shared/Fault.ts"
import { ClientIdentity } from "../shared/Identifier.ts"
import { formatInstant, InstantText, parseInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { Count } from "../shared/Members.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { isUniqueId } from "../shared/UniqueIds.ts"
import { SubscriptionIds } from "./Subscriptions.ts"

/** Maximum numbers of points in one series and in all series of a response. */
export const pointsPerSeries = 1500
const maxPoints = 10_000

const maxStepSeconds = 86_400

/** Without a step, the shortest of these that stays within the maximum number of points. */
const steps = [60, 300, 900, 3600, 21_600, 86_400]
const defaultPoints = 120

/** Which attempts to count, and in which steps. `from` and `to` default to the last hour. */
export const StatisticsQuery = Schema.Struct({
  subscriptionId: Schema.optionalKey(SubscriptionIds),
  client: Schema.optionalKey(ClientIdentity),
  from: Schema.optionalKey(InstantText),
  to: Schema.optionalKey(InstantText),
  step: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: maxStepSeconds }, { message: `step is seconds, from 60 to ${maxStepSeconds}.` }))
  )
})

const StatisticsPoint = Schema.Struct({
  at: InstantText.annotate({ description: "When it begins." }),
  deliveries: Count.annotate({ description: "Accepted attempts." }),
  failures: Count.annotate({ description: "Failed attempts." }),
  meanMillis: Schema.NullOr(Count).annotate({ description: "Mean duration of an attempt; null without attempts." }),
  maxMillis: Schema.NullOr(Count),
  waiting: Schema.NullOr(Count).annotate({ description: "The most entries that waited at one sample; null without a sample. While nothing waits, there is one sample, not one every five minutes." })
}).annotate({ identifier: "StatisticsPoint" })
/** Attempts in one step. */
export type StatisticsPoint = typeof StatisticsPoint.Type

/** Attempts over time, in one or more series. */
export const StatisticsView = Schema.Struct({
  from: InstantText,
  to: InstantText,
  step: Count.annotate({ description: "Seconds of a point." }),
  series: Schema.Array(Schema.Struct({
    subscriptionId: Schema.NullOr(Schema.String.annotate({ description: "Null for a series of the client or the tenant." })),
    points: Schema.Array(StatisticsPoint).annotate({ description: "One for each step, oldest first." })
  }).annotate({ identifier: "StatisticsSeries" }))
}).annotate({ identifier: "Statistics" })
export type StatisticsView = typeof StatisticsView.Type

/** Counts of attempts and waiting entries over time, for dashboards. */
export class Statistics extends Context.Service<Statistics, {
  /**
   * One series for each named subscription; otherwise one series for the client or the tenant. The last hour by default. A minute is
   * complete about a minute after its end.
   */
  readonly get: (tenantId: string, query?: typeof StatisticsQuery.Encoded) => Effect.Effect<StatisticsView, InvalidInput | StorageError>
}>()("@waybill/core/operator/Statistics") {
  static readonly layer = Layer.effect(Statistics, Effect.gen(function*() {
    const store = yield* StatisticsStore

    const get = Effect.fn("Statistics.get")(function*(tenantId: string, input: unknown = {}) {
      const query = yield* decodeQuery(input)
      const range = yield* rangeOf(query, yield* Clock.currentTimeMillis)
      const { from, stepMillis, to } = range
      const ids = query.subscriptionId === undefined ? undefined : [...new Set(query.subscriptionId)]
      const count = (to - from) / stepMillis
      if (count > pointsPerSeries || count * (ids?.length ?? 1) > maxPoints) return yield* tooMany
      const of = query.client !== undefined
        ? { client: qualifiedClient(query.client) }
        : { destinationIds: ids === undefined ? totals : ids.filter(isUniqueId) }
      const rows = yield* store.read(tenantId, { ...range, of })
      const sampled = yield* store.read(tenantId, { ...range, of: { destinationIds: [totalOf(0)] } })
      const isSampled = new Set(sampled.flatMap(({ at, waiting }) => waiting === undefined ? [] : [at]))
      const byId = Map.groupBy(rows, ({ destinationId }) => destinationId)
      const seriesOf = (own: ReadonlyArray<StatisticsRow> = []) => pointsOf(own, range, isSampled)
      return {
        from: formatInstant(from),
        to: formatInstant(to),
        step: stepMillis / 1000,
        series: ids === undefined
          ? [{ subscriptionId: null, points: seriesOf(rows) }]
          : ids.map((subscriptionId) => ({ subscriptionId, points: seriesOf(byId.get(subscriptionId)) }))
      }
    })

    return Statistics.of({ get })
  }))
}

const decodeQuery = decodeInput(StatisticsQuery, { closed: true })

const tooMany = InvalidInput.of(fault(["step"], `At most ${pointsPerSeries} points for each series and ${maxPoints} in all. Ask for a longer step or a shorter range.`, "out_of_bounds"))

type Range = Omit<StatisticsRange, "of">

const rangeOf = ({ client, from, step, subscriptionId, to }: typeof StatisticsQuery.Type, now: number): Effect.Effect<Range, InvalidInput> => {
  const invalid = (name: string, detail: string) => Effect.fail(InvalidInput.of(fault([name], detail, "invalid")))
  if (client !== undefined && subscriptionId !== undefined) return invalid("client", "Give subscriptionId or client, not both.")
  const end = to === undefined ? now : parseInstant(to)!
  const start = from === undefined ? end - hourMillis : parseInstant(from)!
  if (start >= end) return invalid("from", "from is before to.")
  const isOld = start < now - keepMinutesMillis
  const seconds = step ?? steps.find((each) => (!isOld || each * 1000 >= hourMillis) && (end - start) / (each * 1000) <= defaultPoints) ?? maxStepSeconds
  const stepMillis = seconds * 1000
  const inHours = stepMillis % hourMillis === 0
  if (!inHours && (stepMillis % minuteMillis !== 0 || stepMillis > hourMillis)) return invalid("step", "step is a multiple of 60 seconds up to an hour, or a multiple of 3600.")
  if (!inHours && isOld) return invalid("step", "Minutes are kept for a day. For a range that begins earlier, step is a multiple of 3600.")
  return Effect.succeed({
    from: Math.floor(start / stepMillis) * stepMillis,
    to: Math.ceil(end / stepMillis) * stepMillis,
    stepMillis,
    resolution: inHours ? "hours" : "minutes"
  })
}

const pointsOf = (rows: ReadonlyArray<StatisticsRow>, { from, stepMillis, to }: Range, isSampled: ReadonlySet<number>): ReadonlyArray<StatisticsPoint> => {
  const byTime = Map.groupBy(rows, ({ at }) => at)
  return Array.from({ length: (to - from) / stepMillis }, (_, n) => {
    const at = from + n * stepMillis
    const own = byTime.get(at) ?? []
    const sum = (valueOf: (row: StatisticsRow) => number) => own.reduce((total, row) => total + valueOf(row), 0)
    const [deliveries, failures] = [sum((row) => row.deliveries), sum((row) => row.failures)]
    const attempts = deliveries + failures
    return {
      at: formatInstant(at),
      deliveries,
      failures,
      meanMillis: attempts === 0 ? null : Math.round(sum((row) => row.latencyMillis) / attempts),
      maxMillis: attempts === 0 ? null : Math.max(...own.map((row) => row.maxLatencyMillis)),
      waiting: isSampled.has(at) ? sum((row) => row.waiting ?? 0) : null
    }
  })
}
