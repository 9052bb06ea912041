/** Deliveries, failures, latency and waiting entries over time: as charts, for one point in words, and as a table. */
import type { StatisticsPoint } from "@waybill/client/operator"
import { useId, useState } from "preact/hooks"
import { chartRange, chartRanges, pointText, rangeQuery, summaryOf } from "../model/statistics.ts"
import { durationText, utcText } from "../model/time.ts"
import { Choice } from "../parts/Fields.tsx"
import { LineChart } from "../parts/LineChart.tsx"
import { Table } from "../parts/Table.tsx"
import { askAtServerTime } from "../session/Server.ts"
import { usePolled } from "../session/usePolled.ts"

/** Counts are written once a minute. */
const everyMillis = 30_000

interface ChartsProps {
  readonly tenantId: string
  /** Of this subscription, or of this client's; else of the tenant. */
  readonly subscriptionId?: string | undefined
  readonly client?: string | undefined
}

export const Charts = ({ client: owner, subscriptionId, tenantId }: ChartsProps) => {
  const id = useId()
  const [name, setName] = useState("1h")
  const range = chartRange(name)
  const polled = usePolled(`charts ${tenantId} ${subscriptionId ?? owner ?? ""} ${name}`, async (client, signal) => {
    const of = { subscriptionId: subscriptionId === undefined ? undefined : [subscriptionId], client: owner }
    const { series } = await askAtServerTime((now) => client.statistics(tenantId, { ...rangeQuery(range, now), ...of }, { signal }))
    return series[0]?.points ?? []
  }, everyMillis)
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Over time</h2>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <Choice label="Time" value={name === "1h" ? undefined : name} all={chartRanges[0]!.text} choices={chartRanges.slice(1).map(({ name, text }) => [name, text])} change={(name) => setName(name ?? "1h")} />
      </form>
      {/* the view itself says why the server does not answer */}
      {polled.failure !== undefined && <p role="status">These numbers could not be refreshed.</p>}
      {polled.data !== undefined && <Drawn points={polled.data} time={range.text} />}
    </section>
  )
}

const columns = [
  { name: "From (UTC)" },
  { name: "Deliveries", number: true },
  { name: "Failed attempts", number: true },
  { name: "Mean duration", number: true },
  { name: "Slowest", number: true },
  { name: "Waiting", number: true }
]

const count = (value: number): string => value >= 10_000 ? `${Number((value / 1000).toFixed(1))}k` : Number(value.toFixed(1)).toLocaleString("en-US")

const Drawn = ({ points, time }: { readonly points: ReadonlyArray<StatisticsPoint>; readonly time: string }) => {
  const id = useId()
  const [chosen, setChosen] = useState<number>()
  const [open, setOpen] = useState(false)
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return null
  const at = chosen === undefined ? undefined : Math.min(chosen, points.length - 1)
  const ends = [`${utcText(first.at).slice(5, 16)} UTC`, `${utcText(last.at).slice(5, 16)} UTC`] as const
  const chart = { ends, at, read: setChosen }
  const shown = points[at ?? points.length - 1]!
  const valuesOf = (name: "deliveries" | "failures" | "maxMillis" | "meanMillis" | "waiting") => points.map((point) => point[name])
  return (
    <>
      <p>{summaryOf(points)}</p>
      <div class="charts">
        <LineChart {...chart} title="Attempts" unit={count} lines={[{ name: "deliveries", tone: "good", values: valuesOf("deliveries") }, { name: "failed", tone: "bad", values: valuesOf("failures") }]} />
        <LineChart {...chart} title="Duration" unit={durationText} lines={[{ name: "mean", tone: "plain", values: valuesOf("meanMillis") }, { name: "slowest", tone: "careful", values: valuesOf("maxMillis") }]} />
        <LineChart {...chart} title="Waiting entries" unit={count} lines={[{ name: "waiting", tone: "careful", values: valuesOf("waiting"), sampled: true }]} />
      </div>
      <label for={id}>Point in time</label>
      <input id={id} type="range" min={0} max={points.length - 1} value={at ?? points.length - 1} aria-valuetext={pointText(shown)} onInput={(event) => setChosen(Number(event.currentTarget.value))} />
      <p class="read" aria-hidden="true">{pointText(shown)}</p>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Numbers of the {time}</summary>
        {open && <Table caption={`Newest first, ${points.length} rows`} columns={columns} rows={points.toReversed().map(rowOf)} />}
      </details>
    </>
  )
}

const rowOf = ({ at, deliveries, failures, maxMillis, meanMillis, waiting }: StatisticsPoint) => {
  const millis = (value: number | null) => value === null ? "–" : durationText(value)
  return { id: at, cells: [utcText(at).slice(0, 16), deliveries.toLocaleString("en-US"), failures.toLocaleString("en-US"), millis(meanMillis), millis(maxMillis), waiting === null ? "–" : waiting.toLocaleString("en-US")] }
}
