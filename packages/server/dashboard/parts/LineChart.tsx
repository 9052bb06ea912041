/** Lines over time. Only shapes: whoever shows it gives the numbers as text too. */
import { axisTop, mostOf, runsOf } from "../model/statistics.ts"

const [width, height] = [360, 120]
const [left, right, top, bottom] = [50, 8, 10, 20]

export interface Line {
  readonly name: string
  /** A class with its colour. */
  readonly tone: "good" | "bad" | "careful" | "plain"
  readonly values: ReadonlyArray<number | null>
  /** Values are samples: neighbours are connected over points without one. */
  readonly sampled?: boolean
}

interface LineChartProps {
  readonly title: string
  readonly lines: ReadonlyArray<Line>
  /** Text of the first and the last point. */
  readonly ends: readonly [string, string]
  readonly unit: (value: number) => string
  /** Index of the point that is read. */
  readonly at: number | undefined
  readonly read: (at: number | undefined) => void
}

export const LineChart = ({ at, ends, lines, read, title, unit }: LineChartProps) => {
  const count = lines[0]!.values.length
  const limit = axisTop(mostOf(lines.flatMap(({ values }) => values)) ?? 0)
  const x = (index: number) => left + (count < 2 ? 0 : (index / (count - 1)) * (width - left - right))
  const y = (value: number) => height - bottom - (value / limit) * (height - top - bottom)
  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect()
    const share = ((event.clientX - box.left) / box.width * width - left) / (width - left - right)
    read(Math.min(count - 1, Math.max(0, Math.round(share * (count - 1)))))
  }
  return (
    <figure class="chart">
      <figcaption>{title} {lines.length > 1 && lines.map(({ name, tone }) => <span key={name} class={`key ${tone}`}>{name}</span>)}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true" onPointerMove={point} onPointerLeave={() => read(undefined)}>
        {[0, limit / 2, limit].map((value) => (
          <g key={value}>
            <line class="grid" x1={left} x2={width - right} y1={y(value)} y2={y(value)} />
            {(value === 0 || value === limit || limit >= 2) && <text x={left - 6} y={y(value) + 4} text-anchor="end">{unit(value)}</text>}
          </g>
        ))}
        <text x={left} y={height - 4}>{ends[0]}</text>
        <text x={width - right} y={height - 4} text-anchor="end">{ends[1]}</text>
        {lines.map(({ name, sampled = false, tone, values }) =>
          runsOf(values, sampled).map((run) => run.length === 1
            ? <circle key={`${name} ${run[0]![0]}`} class={tone} cx={x(run[0]![0])} cy={y(run[0]![1])} r={2} />
            : <polyline key={`${name} ${run[0]![0]}`} class={tone} points={run.map(([index, value]) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(" ")} />))}
        {at !== undefined && <line class="cursor" x1={x(at)} x2={x(at)} y1={top} y2={height - bottom} />}
      </svg>
    </figure>
  )
}
