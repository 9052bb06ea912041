/** Keeps the order of rows while the pointer or the focus is on them. */
import type { RefCallback } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { type Shown, steadyOrder } from "../model/steadyOrder.ts"

/** `list` is the ref of the element with the rows; another `question` starts a new order. */
export const useSteady = <A>(question: string, rows: ReadonlyArray<A>, idOf: (row: A) => string): Shown<A> & { readonly list: RefCallback<HTMLElement> } => {
  const [element, list] = useState<HTMLElement | null>(null)
  const [held, setHeld] = useState(false)
  const before = useRef<{ question: string; ids: ReadonlyArray<string> }>({ question, ids: [] })

  useEffect(() => {
    if (element === null) return setHeld(false)
    // Touch leaves a hover state behind.
    const hovers = matchMedia("(hover: hover)")
    const look = () => setHeld((hovers.matches && element.matches(":hover")) || element.contains(document.activeElement))
    // The new focus is known only then.
    const later = () => void setTimeout(look)
    const events = ["pointerenter", "pointerleave", "focusin", "focusout"]
    for (const event of events) element.addEventListener(event, later)
    look()
    return () => {
      for (const event of events) element.removeEventListener(event, later)
    }
  }, [element])

  if (before.current.question !== question) before.current = { question, ids: [] }
  const shown = steadyOrder(before.current.ids, rows, idOf, held)
  before.current.ids = shown.rows.map(idOf)
  return { ...shown, list }
}
