/** What would be lost with a view, such as text that was typed and not saved. It stays in the open page: another view may be opened in between, or another link. */
import { useContext, useState } from "preact/hooks"
import { setUnsaved } from "../session/unsaved.ts"
import { SessionContext } from "./SessionContext.ts"

const kept = new Map<string, unknown>()

export const hasKept = (): boolean => kept.size > 0

/** Of the session's client: the link of another one, or of another tenant, shows nothing of it. */
export const useKept = <A>(what: string): readonly [A | undefined, (change: (before: A | undefined) => A | undefined) => void] => {
  const { client, tenantId } = useContext(SessionContext)!
  const name = `${what} of ${tenantId} ${client}`
  const [, update] = useState(0)
  return [kept.get(name) as A | undefined, (change) => {
    const value = change(kept.get(name) as A | undefined)
    if (value === undefined) kept.delete(name)
    else kept.set(name, value)
    setUnsaved(name, value !== undefined)
    update((n) => n + 1)
  }]
}
