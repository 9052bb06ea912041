/** The page: the key form first, then the view of the route. */
import type { ComponentChildren } from "preact"
import { useCallback, useEffect, useErrorBoundary, useMemo, useRef, useState } from "preact/hooks"
import { placeOf } from "../model/routes.ts"
import { type Connection, type AppState, AppStateContext } from "../session/Context.ts"
import { clientWith, storeKey, storedKey } from "../session/Session.ts"
import { forgetAnswers } from "../session/usePolled.ts"
import { useRoute } from "../session/useRoute.ts"
import { KeyForm } from "./KeyForm.tsx"
import { LiveStatus } from "./LiveStatus.tsx"
import { Masthead } from "./Masthead.tsx"
import { View } from "./View.tsx"

export const App = () => {
  const [key, setKey] = useState(storedKey)
  const [refused, setRefused] = useState(false)
  const change = (key: string | undefined, refused = false) => {
    storeKey(key)
    forgetAnswers()
    setRefused(refused)
    setKey(key)
  }
  return key === undefined
    ? <KeyForm refused={refused} enter={(key) => change(key)} />
    : <SignedIn apiKey={key} forget={() => change(undefined)} keyRefused={() => change(undefined, true)} />
}

const SignedIn = ({ apiKey, forget, keyRefused }: { readonly apiKey: string; readonly forget: () => void; readonly keyRefused: () => void }) => {
  const route = useRoute()
  const seen = useVisible()
  const [pausedByOperator, setPausedByOperator] = useState(false)
  const [connection, setConnection] = useState<Connection>({ failingSince: undefined })
  const [refreshes, setRefreshes] = useState(0)
  const { announcement, announce } = useAnnouncement()
  const client = useMemo(() => clientWith(apiKey), [apiKey])
  const connectionChanged = useCallback((next: Connection) => setConnection((last) => last.failingSince === next.failingSince ? last : next), [])
  const app: AppState = useMemo(
    () => ({ client, announce, paused: pausedByOperator || !seen, connection: connectionChanged, keyRefused, refreshes }),
    [client, announce, pausedByOperator, seen, connectionChanged, refreshes]
  )
  useEffect(() => setConnection({ failingSince: undefined }), [placeOf(route)])
  useTick(10_000)

  return (
    <AppStateContext.Provider value={app}>
      <a class="skip" href="#main" onClick={toMain}>Skip to the content</a>
      <Masthead route={route} forget={forget}>
        <LiveStatus connection={connection} pausedByOperator={pausedByOperator} seen={seen} setPaused={setPausedByOperator} refresh={() => setRefreshes((n) => n + 1)} />
      </Masthead>
      <main id="main" tabIndex={-1}>
        <ErrorBoundary key={placeOf(route)}><View route={route} /></ErrorBoundary>
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
      <h1 tabIndex={-1}>Cannot be shown</h1>
      <p class="failure" role="alert">Unexpected response from the server. Reload the page if the server was updated.</p>
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
