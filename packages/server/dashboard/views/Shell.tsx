/** What every page has around its view: skip link, header, live status, errors and announcements. */
import type { ComponentChildren } from "preact"
import { useCallback, useEffect, useErrorBoundary, useMemo, useRef, useState } from "preact/hooks"
import { type AppState, AppStateContext, type Connection } from "../session/Context.ts"
import { notUnderstood } from "../session/Server.ts"
import { forgetAnswers } from "../session/usePolled.ts"
import { LiveStatus } from "./LiveStatus.tsx"

interface ShellProps {
  /** The API client of the page. */
  readonly client: unknown
  /** The same value for views that differ only in a filter. */
  readonly place: string
  readonly keyRefused: AppState["keyRefused"]
  readonly pausable: boolean
  /** Whether no requests are sent, because the credential was refused. */
  readonly locked?: boolean
  /** The header; it shows the live status. */
  readonly header: (status: ComponentChildren) => ComponentChildren
  /** The view. */
  readonly children: ComponentChildren
}

export const Shell = ({ children, client, header, keyRefused, locked = false, pausable, place }: ShellProps) => {
  const seen = useVisible()
  const [pausedByUser, setPausedByUser] = useState(false)
  const [connection, setConnection] = useState<Connection>({ failingSince: undefined })
  const [refreshes, setRefreshes] = useState(0)
  const { announcement, announce } = useAnnouncement()
  const connectionChanged = useCallback((next: Connection) => setConnection((last) => last.failingSince === next.failingSince ? last : next), [])
  const app: AppState<unknown> = useMemo(
    () => ({ client, announce, paused: pausedByUser || !seen || locked, connection: connectionChanged, keyRefused, refreshes }),
    [client, announce, pausedByUser, seen, locked, connectionChanged, keyRefused, refreshes]
  )
  useEffect(() => setConnection({ failingSince: undefined }), [place])
  useTick(10_000)

  return (
    <AppStateContext.Provider value={app}>
      <a class="skip" href="#main" onClick={toMain}>Skip to the content</a>
      {header(<LiveStatus connection={connection} pausable={pausable} pausedByUser={pausedByUser} seen={seen} setPaused={setPausedByUser} refresh={() => setRefreshes((n) => n + 1)} />)}
      <main id="main" tabIndex={-1}>
        <ErrorBoundary key={place}>{children}</ErrorBoundary>
      </main>
      <div role="status" aria-live="polite" class="hidden">{announcement}</div>
    </AppStateContext.Provider>
  )
}

/** An unexpected response must not crash the whole page. */
const ErrorBoundary = ({ children }: { readonly children: ComponentChildren }) => {
  const [error, again] = useErrorBoundary(() => forgetAnswers())
  return error === undefined ? <>{children}</> : (
    <>
      <h1 tabIndex={-1}>This view cannot be shown</h1>
      <p class="failure" role="alert">{notUnderstood}</p>
      <button type="button" onClick={again}>Try again</button>
    </>
  )
}

/** Does not change the address, which is the route. */
const toMain = (event: Event) => {
  event.preventDefault()
  document.getElementById("main")?.focus()
}

const useVisible = (): boolean => {
  const [seen, setSeen] = useState(!document.hidden)
  useEffect(() => {
    const look = () => setSeen(!document.hidden)
    document.addEventListener("visibilitychange", look)
    return () => document.removeEventListener("visibilitychange", look)
  }, [])
  return seen
}

/** Updates relative times. */
const useTick = (millis: number): void => {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), millis)
    return () => clearInterval(timer)
  }, [millis])
}

const quietMillis = 5_000

/** Announces one message at a time, with pauses in between. */
const useAnnouncement = () => {
  const [announcement, setAnnouncement] = useState("")
  const next = useRef<string | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const announce = useCallback((sentence: string) => {
    if (timer.current !== undefined) {
      next.current = sentence
      return
    }
    setAnnouncement(sentence)
    timer.current = setTimeout(() => {
      timer.current = undefined
      const waiting = next.current
      next.current = undefined
      if (waiting !== undefined) announce(waiting)
    }, quietMillis)
  }, [])
  useEffect(() => () => clearTimeout(timer.current), [])
  return { announcement, announce }
}
