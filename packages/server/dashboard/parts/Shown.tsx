/** Displays external text safely. */
import { useMemo } from "preact/hooks"
import { visible, visibleLine } from "../model/visibleText.ts"
import { useParts } from "./Parts.tsx"

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

/** Each isolated, so that a name in another direction does not reorder the others. */
export const ShownList = ({ texts }: { readonly texts: ReadonlyArray<string> }) => <>{texts.map((text, n) => <span key={n}>{n > 0 && ", "}<Shown text={text} /></span>)}</>

/** More would hold the tab while it is laid out. */
const partLength = 50_000

interface ShownBlockProps {
  readonly label: string
  readonly text: string
  /** The line breaks were added here, so they need no marks. */
  readonly ourLines?: boolean
}

/** Several lines, with every character shown. Very long text is shown in parts. */
export const ShownBlock = ({ label, ourLines = false, text }: ShownBlockProps) => {
  const { controls, from, to } = useParts(text.length, partLength, "Characters")
  const pieces = useMemo(() => visible(text.slice(wholeAt(text, from), wholeAt(text, to))), [text, from, to])
  return (
    <>
      <pre class="block" tabIndex={0} role="region" aria-label={label} dir="ltr">
        {useMemo(() => pieces.map((piece, n) =>
          "text" in piece ? piece.text : ourLines && piece.endsLine ? "\n" : <Mark key={n} mark={piece.mark} name={piece.name} endsLine={piece.endsLine} />), [pieces, ourLines])}
      </pre>
      {controls}
    </>
  )
}

/** Not between the halves of a character. */
const wholeAt = (text: string, at: number): number => /^[\udc00-\udfff]/.test(text.slice(at, at + 1)) && /^[\ud800-\udbff]/.test(text.slice(at - 1, at)) ? at + 1 : at

const Mark = ({ endsLine, mark, name }: { readonly mark: string; readonly name: string; readonly endsLine: boolean }) => (
  <>
    <mark class="unseen" title={name}>{mark}</mark>
    {endsLine && "\n"}
  </>
)
