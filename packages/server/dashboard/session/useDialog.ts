/** State of a view's dialogs: which one is open, and the result of the last confirmed one. */
import { useState } from "preact/hooks"
import { useAppState } from "./Context.ts"
import { useDraft } from "./useDraft.ts"

export interface DialogState<Asked> {
  readonly asked: Asked | undefined
  readonly ask: (asked: Asked) => void
  readonly result: string | undefined
  /** Without a result the dialog was cancelled. A result is shown, announced, and the view's data is read again. */
  readonly close: (result?: string) => void
}

export const useDialog = <Asked>({ refresh }: { readonly refresh: () => void }): DialogState<Asked> => {
  const { announce } = useAppState()
  // it asks about what the address shows, such as all that match a filter
  const [asked, ask] = useDraft<Asked | undefined>(undefined, location.hash)
  const [result, setResult] = useState<string>()
  const close = (result?: string) => {
    ask(undefined)
    if (result === undefined) return
    setResult(result)
    announce(result)
    refresh()
  }
  return { asked, ask, result, close }
}
