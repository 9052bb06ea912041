/** Long content in parts of a fixed size: megabytes at once would hold the tab. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"

interface Part {
  readonly from: number
  readonly to: number
  /** Which part is shown, and buttons for the others; `null` if there is only one. */
  readonly controls: ComponentChildren
}

/** `units`: what is counted, such as `Characters`. */
export const useParts = (length: number, size: number, units: string): Part => {
  const [chosen, setChosen] = useState(0)
  const last = Math.max(0, Math.ceil(length / size) - 1)
  const part = Math.min(chosen, last)
  const [from, to] = [part * size, Math.min(length, (part + 1) * size)]
  const number = (value: number) => value.toLocaleString("en-US")
  const controls = last === 0 ? null : (
    <div class="actions">
      <button type="button" class="secondary outline small" disabled={part === 0} onClick={() => setChosen(part - 1)}>Previous part</button>
      <button type="button" class="secondary outline small" disabled={part === last} onClick={() => setChosen(part + 1)}>Next part</button>
      <small role="status">{units} {number(from + 1)} to {number(to)} of {number(length)}</small>
    </div>
  )
  return { from, to, controls }
}
