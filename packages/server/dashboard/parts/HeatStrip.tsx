/** The share of failed attempts, hour by hour, in one line. */
import { useMemo } from "preact/hooks"
import type { StatisticsPoint } from "@waybill/client/operator"
import { failureLevel, failureShare, stripText } from "../model/statistics.ts"

const levels = [undefined, 0, 1, 2, 3, 4] as const

const levelOf = (point: StatisticsPoint) => {
  const share = failureShare(point)
  return share === undefined ? undefined : failureLevel(share)
}

/** A list has a hundred strips and is drawn again every two seconds: one shape for each colour, and only for other points. */
export const HeatStrip = ({ points }: { readonly points: ReadonlyArray<StatisticsPoint> }) => useMemo(() => (
  <svg class="strip" viewBox={`0 0 ${points.length * 5} 14`} role="img" aria-label={stripText(points)}>
    {levels.map((level) => {
      const marks = points.flatMap((point, n) => levelOf(point) === level ? `M${n * 5} 0h4v14h-4z` : []).join("")
      return marks === "" ? null : <path key={level} class={level === undefined ? "quiet" : `level-${level}`} d={marks} />
    })}
  </svg>
), [points])
