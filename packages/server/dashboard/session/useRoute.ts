/** The address, with the focus on the heading of what is new, and what was scrolled where it was when one comes back. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { placeOf, type Route, routeOf } from "../model/routes.ts"

/** Where entries of the history were scrolled to when they were left. */
const scrolled = new Map<number, number>()
let entries = 0
/** The entry that is shown. Numbers of an earlier load of the page mean nothing to this one. */
let here = 0

const begin = (): void => {
  history.scrollRestoration = "manual"
  here = ++entries
  history.replaceState({ entry: here, load }, "")
}

const load = Math.random()

/** What the old view was scrolled to is still there when the address changes. Answers where to scroll in the new one. */
const arrive = (): number => {
  scrolled.set(here, scrollY)
  const state = history.state as { readonly entry: number; readonly load: number } | null
  if (state?.load !== load) {
    begin()
    return 0
  }
  here = state.entry
  return scrolled.get(here) ?? 0
}

export const useRoute = (): Route => {
  const [address, setAddress] = useState({ hash: location.hash, top: 0 })
  useEffect(() => {
    begin()
    const look = () => {
      const top = arrive()
      setAddress({ hash: location.hash, top })
    }
    addEventListener("hashchange", look)
    return () => removeEventListener("hashchange", look)
  }, [])

  const route = useMemo(() => routeOf(address.hash), [address])
  const heading = `${placeOf(route)} ${route.view === "deliveries" && route.state === "dead"}`
  const before = useRef(heading)
  useLayoutEffect(() => {
    if (before.current === heading) return
    before.current = heading
    scrollTo(0, address.top)
    // whoever goes through the choices of a filter stays there
    if (document.activeElement?.closest("form.filter") === null || document.activeElement === document.body) {
      document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true })
    }
  }, [heading, address])
  return route
}
