/** The share of failed attempts, hour by hour, in one line. */
import { useMemo } from "preact/hooks"
import type { StatisticsPoint } from "@waybill/client/operator"
import { failureLevel, failureShare, stripText } from "../model/statistics.ts"

export const HeatStrip = ({ points }: { readonly points: ReadonlyArray<StatisticsPoint> }) => useMemo(() => (
  <svg class="strip" viewBox={`0 0 ${points.length * 5} 14`} role="img" aria-label={stripText(points)}>
    {points.map((point, n) => {
      const share = failureShare(point)
      return <rect key={point.at} class={share === undefined ? "quiet" : `level-${failureLevel(share)}`} x={n * 5} y={0} width={4} height={14} />
    })}
  </svg>
), [points])
