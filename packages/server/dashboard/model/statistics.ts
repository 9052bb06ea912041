/** Ranges of charts, and what their numbers say. */
import type { StatisticsPoint } from "@waybill/client/operator"
import { durationText, utcText } from "./time.ts"
import { plural } from "./words.ts"

interface ChartRange {
  readonly name: string
  readonly text: string
  readonly seconds: number
  /** Of one point. */
  readonly step: number
}

/** Shorter ones by minutes, which are kept for a day; longer ones by hours. */
export const chartRanges: ReadonlyArray<ChartRange> = [
  { name: "1h", text: "last hour", seconds: 3600, step: 60 },
  { name: "6h", text: "last 6 hours", seconds: 21_600, step: 300 },
  { name: "24h", text: "last 24 hours", seconds: 86_400, step: 900 },
  { name: "7d", text: "last 7 days", seconds: 604_800, step: 10_800 },
  { name: "30d", text: "last 30 days", seconds: 2_592_000, step: 21_600 }
]

export const chartRange = (name: string | undefined): ChartRange => chartRanges.find((range) => range.name === name) ?? chartRanges[0]!

/** By whole steps, so that a chart does not change between two requests of the same step. */
export const rangeQuery = ({ seconds, step }: Pick<ChartRange, "seconds" | "step">, nowMillis: number) => {
  const to = Math.ceil(nowMillis / 1000 / step) * step * 1000
  return { from: new Date(to - seconds * 1000), to: new Date(to), step }
}

/** Share of attempts that failed; `undefined` without attempts. */
export const failureShare = ({ deliveries, failures }: Pick<StatisticsPoint, "deliveries" | "failures">): number | undefined =>
  deliveries + failures === 0 ? undefined : failures / (deliveries + failures)

/** 0: none failed. 4: half of them or more. */
export const failureLevel = (share: number): 0 | 1 | 2 | 3 | 4 => share === 0 ? 0 : share < 0.05 ? 1 : share < 0.2 ? 2 : share < 0.5 ? 3 : 4

const sum = (values: ReadonlyArray<number>): number => values.reduce((all, value) => all + value, 0)

export const percentText = (share: number): string => share > 0 && share < 0.001 ? "below 0.1 %" : `${Number((share * 100).toFixed(1))} %`

const attemptsText = (points: ReadonlyArray<StatisticsPoint>): string => {
  const all = { deliveries: sum(points.map(({ deliveries }) => deliveries)), failures: sum(points.map(({ failures }) => failures)) }
  const share = failureShare(all)
  return share === undefined ? "No attempts" : `${plural(all.deliveries, "delivery", "deliveries")}, ${plural(all.failures, "failed attempt")} (${percentText(share)})`
}

export const mostOf = (values: ReadonlyArray<number | null>): number | undefined => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? undefined : Math.max(...known)
}

/** One sentence about a whole chart. */
export const summaryOf = (points: ReadonlyArray<StatisticsPoint>): string => {
  const slowest = mostOf(points.map(({ maxMillis }) => maxMillis))
  const waiting = mostOf(points.map(({ waiting }) => waiting))
  const parts = [attemptsText(points)]
  if (slowest !== undefined) parts.push(`the slowest took ${durationText(slowest)}`)
  if (waiting !== undefined) parts.push(`at most ${plural(waiting, "entry", "entries")} waiting`)
  return `${parts.join(", ")}.`
}

export const pointText = (point: StatisticsPoint): string => {
  const parts = [`${utcText(point.at).slice(0, 16)} UTC: ${plural(point.deliveries, "delivery", "deliveries")}`, plural(point.failures, "failed attempt")]
  if (point.meanMillis !== null && point.maxMillis !== null) parts.push(`mean ${durationText(point.meanMillis)}`, `slowest ${durationText(point.maxMillis)}`)
  if (point.waiting !== null) parts.push(`${plural(point.waiting, "entry", "entries")} waiting`)
  return parts.join(", ")
}

/** What a strip of steps shows, in words. */
export const stripText = (points: ReadonlyArray<StatisticsPoint>): string => {
  const failing = points.filter(({ failures }) => failures > 0).length
  return failing === 0 ? `${attemptsText(points)} in 24 hours` : `${attemptsText(points)} in 24 hours, failures in ${plural(failing, "hour")}`
}

/** The top of an axis: 1, 2 or 5 times a power of ten, at least `most`. */
export const axisTop = (most: number): number => {
  if (most <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 5, 10].map((times) => times * power).find((top) => top >= most)!
}

/** Runs of neighbouring points with a value: `null` leaves a gap. With `bridged`, gaps are closed, for values that are only sampled. */
export const runsOf = (values: ReadonlyArray<number | null>, bridged: boolean): ReadonlyArray<ReadonlyArray<readonly [index: number, value: number]>> => {
  const runs: Array<Array<readonly [number, number]>> = []
  let run: Array<readonly [number, number]> | undefined
  values.forEach((value, index) => {
    if (value === null) {
      if (!bridged) run = undefined
      return
    }
    if (run === undefined) runs.push(run = [])
    run.push([index, value])
  })
  return runs
}
