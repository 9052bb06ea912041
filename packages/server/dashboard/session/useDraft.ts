/** What a user has typed and not yet submitted. */
import { useRef, useState } from "preact/hooks"

/**
 * `given` until something is typed, and again when `question` changes. Without an effect, which would run after the page is painted and remove
 * what was typed meanwhile.
 */
export const useDraft = <A>(given: A, question: unknown = given): readonly [A, (draft: A) => void] => {
  const draft = useRef({ question, value: given })
  const [, update] = useState(0)
  if (draft.current.question !== question) draft.current = { question, value: given }
  return [draft.current.value, (value) => {
    draft.current.value = value
    update((n) => n + 1)
  }]
}
