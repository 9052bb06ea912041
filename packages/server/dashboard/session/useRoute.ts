/** The current route. Moves the focus to the heading of a new view, and restores the scroll position on Back. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { mayLeaveView } from "./unsaved.ts"

/** Scroll positions of history entries when they were left. */
const scrolled = new Map<number, number>()
let entries = 0
/** The current history entry. Numbers from before a reload are not valid. */
let here = 0

const begin = (): void => {
  history.scrollRestoration = "manual"
  here = ++entries
  history.replaceState({ entry: here, load }, "")
}

const load = Math.random()

/** The scroll position still belongs to the old view when the address changes. Returns the position of the new view. */
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

export interface Routes<Route> {
  readonly routeOf: (hash: string) => Route
  /** Changes when the view has another heading. */
  readonly headingOf: (route: Route) => string
}

export const useRoute = <Route,>({ headingOf, routeOf }: Routes<Route>): Route => {
  const [address, setAddress] = useState({ hash: location.hash, top: 0 })
  useEffect(() => {
    begin()
    let { href } = location
    const look = () => {
      if (!mayLeaveView()) return history.pushState({ entry: here, load }, "", href)
      const top = arrive()
      href = location.href
      setAddress({ hash: location.hash, top })
    }
    addEventListener("hashchange", look)
    return () => removeEventListener("hashchange", look)
  }, [])

  const route = useMemo(() => routeOf(address.hash), [address])
  const heading = headingOf(route)
  const before = useRef(heading)
  useLayoutEffect(() => {
    if (before.current === heading) return
    before.current = heading
    scrollTo(0, address.top)
    // A change of a filter keeps the focus in the filter.
    if (document.activeElement?.closest("form.filter") === null || document.activeElement === document.body) {
      document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true })
    }
  }, [heading, address])
  return route
}
