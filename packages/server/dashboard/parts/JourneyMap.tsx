/** The way of a shipment, without a background: no tiles are loaded from elsewhere. The table beside it says the same. */
import type { JourneyEntry } from "@waybill/client/operator"
import { placed, type Stop, stopsOf } from "../model/journeyMap.ts"
import { visibleLine } from "../model/visibleText.ts"
import { plural } from "../model/words.ts"
import { Shown } from "./Shown.tsx"
import { Table } from "./Table.tsx"
import { When } from "./When.tsx"

const size = { width: 640, height: 260, padding: 40 }

/** More would hide each other. */
const mostDrawn = 60

const columns = [{ name: "Stop", number: true }, { name: "Place" }, { name: "Since" }, { name: "Last known" }]

export const JourneyMap = ({ entries }: { readonly entries: ReadonlyArray<JourneyEntry> }) => {
  const all = stopsOf(entries)
  if (all.length < 2) return null
  const stops = placed(all.slice(-mostDrawn), size)
  const [first, last] = [stops[0]!, stops.at(-1)!]
  // stops without coordinates may be moved below the others
  const height = Math.max(size.height, ...stops.map(({ y }) => y + size.padding))
  return (
    <section aria-labelledby="map">
      <h2 id="map">Map</h2>
      <figure class="map">
        <svg viewBox={`0 0 ${size.width} ${Math.ceil(height)}`} aria-hidden="true">
          <polyline points={stops.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")} />
          {stops.map((stop) => (
            <g key={stop.number} class={stop === last ? "stop last" : stop.point === undefined ? "stop unplaced" : "stop"}>
              <circle cx={stop.x} cy={stop.y} r={9} />
              <text x={stop.x} y={stop.y + 4} text-anchor="middle">{stop.number}</text>
              {(stop === first || stop === last) && <text class="place" x={stop.x} y={stop.y - 14} text-anchor={anchorAt(stop.x)}>{visibleLine(stop.place).slice(0, 40)}</text>}
            </g>
          ))}
        </svg>
        <figcaption>{captionOf(all, stops.length)}</figcaption>
      </figure>
      <Table
        caption={plural(all.length, "stop")}
        columns={columns}
        header={1}
        rows={all.map((stop) => ({
          id: String(stop.number),
          cells: [
            stop.number,
            <><Shown text={stop.place} />{stop.point === undefined && <small class="signs">no coordinates</small>}</>,
            <When at={stop.at} />,
            <><Shown text={stop.title} />{stop.entries > 1 && <small class="signs">{plural(stop.entries, "entry", "entries")}</small>}</>
          ]
        }))}
      />
    </section>
  )
}

/** So that the text stays inside the drawing. */
const anchorAt = (x: number): "end" | "middle" | "start" => x < size.width / 4 ? "start" : x > size.width * 3 / 4 ? "end" : "middle"

const captionOf = (stops: ReadonlyArray<Stop>, drawn: number): string => {
  const unplaced = stops.filter(({ point }) => point === undefined).length
  if (unplaced === stops.length) return "No stop has coordinates: they stand in their order, not in their places."
  return [
    "North is up.",
    ...unplaced === 0 ? [] : [`${plural(unplaced, "stop")} without coordinates ${unplaced === 1 ? "is" : "are"} drawn on the way between others, with a dashed ring.`],
    ...drawn < stops.length ? [`Only the newest ${drawn} are drawn.`] : []
  ].join(" ")
}
