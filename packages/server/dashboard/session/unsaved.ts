/**
 * What is lost with the page, and some of it already with its view, such as text that was typed and not sent: the browser asks before it leaves. It is
 * never stored.
 */
const unsaved = new Map<string, "page" | "view">()

const ask = (event: BeforeUnloadEvent): void => event.preventDefault()

export const setUnsaved = (what: string, isUnsaved: boolean, lostWith: "page" | "view" = "page"): void => {
  if (isUnsaved) unsaved.set(what, lostWith)
  else unsaved.delete(what)
  if (unsaved.size > 0) addEventListener("beforeunload", ask)
  else removeEventListener("beforeunload", ask)
}

/** Asks before the view is left, if something is lost with it. */
export const mayLeaveView = (): boolean => !Array.from(unsaved.values()).includes("view") || confirm("Leave this view? What you typed is not sent, and is lost.")
