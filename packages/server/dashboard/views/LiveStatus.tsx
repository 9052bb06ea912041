/** Shows whether the data is current. */
import { useEffect, useRef } from "preact/hooks"
import { utcText } from "../model/time.ts"
import { type Connection, useAppState } from "../session/Context.ts"

interface LiveStatusProps {
  readonly connection: Connection
  /** Paused by the button. */
  readonly pausedByOperator: boolean
  readonly seen: boolean
  readonly setPaused: (pausedByOperator: boolean) => void
  readonly refresh: () => void
}

export const LiveStatus = ({ connection: { failingSince }, setPaused, pausedByOperator, refresh, seen }: LiveStatusProps) => {
  const { announce } = useAppState()
  const failing = failingSince !== undefined
  const before = useRef(failing)
  useEffect(() => {
    if (before.current !== failing) announce(failing ? "No response from the server." : "The server is reachable again.")
    before.current = failing
  }, [failing])
  const paused = pausedByOperator || !seen
  const since = failingSince === undefined ? "" : utcText(new Date(failingSince).toISOString()).slice(11)
  return (
    <>
      <span class={`live ${failing ? "bad" : paused ? "plain" : "good"}`}>
        {failing ? `no answer since ${since} UTC` : paused ? "paused" : "live"}
      </span>
      {(pausedByOperator || failing) && <button type="button" class="secondary outline small" onClick={refresh}>Ask now</button>}
      <button type="button" class="secondary outline small" aria-pressed={pausedByOperator} onClick={() => setPaused(!pausedByOperator)}>Pause</button>
    </>
  )
}
