/** Displays external text safely. */
import { useState } from "preact/hooks"
import { visible, visibleLine } from "../model/visibleText.ts"

/** Isolated, so that it cannot reorder adjacent text. */
export const Shown = ({ text }: { readonly text: string }) => (
  <bdi class="shown">
    {visible(text).map((piece, n) =>
      "text" in piece ? piece.text : <Mark key={n} mark={piece.mark} name={piece.name} endsLine={false} />)}
  </bdi>
)

/** One line, cut off if too long; hovering or selecting shows the full text. */
export const ShownLine = ({ text }: { readonly text: string }) => (
  <span class="line" title={visibleLine(text)}>
    <Shown text={text} />
  </span>
)

const firstLength = 20_000

interface ShownBlockProps {
  readonly label: string
  readonly text: string
  /** The line breaks were added here, so they need no marks. */
  readonly ourLines?: boolean
}

/** Several lines, with every character shown. Very long text is shown in parts. */
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
