/** What is lost with the page, such as text that was typed and not sent: the browser asks before it leaves. It is never stored. */

const unsaved = new Set<string>()

const ask = (event: BeforeUnloadEvent): void => event.preventDefault()

export const setUnsaved = (what: string, isUnsaved: boolean): void => {
  if (isUnsaved) unsaved.add(what)
  else unsaved.delete(what)
  if (unsaved.size > 0) addEventListener("beforeunload", ask)
  else removeEventListener("beforeunload", ask)
}
