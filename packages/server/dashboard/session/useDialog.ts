/** State of a view's dialogs: which one is open, and the result of the last confirmed one. */
import { useState } from "preact/hooks"
import { useAppState } from "./Context.ts"

export interface DialogState<Asked> {
  readonly asked: Asked | undefined
  readonly ask: (asked: Asked) => void
  readonly result: string | undefined
  /** Without a result the dialog was cancelled. A result is shown, announced, and the view's data is read again. */
  readonly close: (result?: string) => void
}

export const useDialog = <Asked>({ refresh }: { readonly refresh: () => void }): DialogState<Asked> => {
  const { announce } = useAppState()
  const [asked, setAsked] = useState<Asked>()
  const [result, setResult] = useState<string>()
  const close = (result?: string) => {
    setAsked(undefined)
    if (result === undefined) return
    setResult(result)
    announce(result)
    refresh()
  }
  return { asked, ask: (asked) => setAsked(() => asked), result, close }
}
