/** What others sent, as text and never as anything else. */
import { useState } from "preact/hooks"
import { visible, visibleLine } from "../model/visibleText.ts"

/** Isolated, so that it cannot reorder what stands beside it. */
export const Shown = ({ text }: { readonly text: string }) => (
  <bdi class="shown">
    {visible(text).map((piece, n) =>
      "text" in piece ? piece.text : <Mark key={n} mark={piece.mark} name={piece.name} endsLine={false} />)}
  </bdi>
)

/** In one line that is cut off where there is no room; the whole is told on hover, and by selecting it. */
export const ShownLine = ({ text }: { readonly text: string }) => (
  <span class="line" title={visibleLine(text)}>
    <Shown text={text} />
  </span>
)

const firstLength = 20_000

interface ShownBlockProps {
  readonly label: string
  readonly text: string
  /** We broke the lines ourselves, so where they end needs no mark. */
  readonly ourLines?: boolean
}

/** Many lines, every byte accounted for. Very long ones are shown piece by piece. */
export const ShownBlock = ({ label, ourLines = false, text }: ShownBlockProps) => {
  const [most, setMost] = useState(firstLength)
  const cut = text.length > most ? text.slice(0, most) : text
  return (
    <>
      <pre class="block" tabIndex={0} role="region" aria-label={label} dir="ltr">
        {visible(cut).map((piece, n) =>
          "text" in piece ? piece.text : ourLines && piece.endsLine ? "\n" : <Mark key={n} mark={piece.mark} name={piece.name} endsLine={piece.endsLine} />)}
      </pre>
      {cut.length < text.length && (
        <button type="button" class="secondary outline small" onClick={() => setMost(most * 10)}>
          Show more ({(text.length - most).toLocaleString("en-US")} characters left)
        </button>
      )}
    </>
  )
}

const Mark = ({ endsLine, mark, name }: { readonly mark: string; readonly name: string; readonly endsLine: boolean }) => (
  <>
    <mark class="unseen" title={name}>{mark}</mark>
    {endsLine && "\n"}
  </>
)
