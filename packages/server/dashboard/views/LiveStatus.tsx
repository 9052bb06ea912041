/** Shows whether the data is current. */
import { useEffect, useRef } from "preact/hooks"
import { utcText } from "../model/time.ts"
import { type Connection, useAppState } from "../session/Context.ts"

interface LiveStatusProps {
  readonly connection: Connection
  /** Paused by the button. */
  readonly pausedByUser: boolean
  readonly seen: boolean
  readonly setPaused: (pausedByUser: boolean) => void
  readonly refresh: () => void
  /** Whether the user can stop the updates. */
  readonly pausable: boolean
}

export const LiveStatus = ({ connection: { failingSince }, setPaused, pausable, pausedByUser, refresh, seen }: LiveStatusProps) => {
  const { announce } = useAppState()
  const failing = failingSince !== undefined
  const before = useRef(failing)
  useEffect(() => {
    if (before.current !== failing) announce(failing ? "The data is not updated." : "The data is updated again.")
    before.current = failing
  }, [failing])
  const paused = pausedByUser || !seen
  const since = failingSince === undefined ? "" : utcText(new Date(failingSince).toISOString()).slice(11)
  return (
    <>
      <span class={`live ${failing ? "bad" : paused ? "plain" : "good"}`}>
        {failing ? `not updated since ${since} UTC` : paused ? "paused" : "live"}
      </span>
      {(pausedByUser || failing) && <button type="button" class="secondary outline small" onClick={refresh}>Refresh</button>}
      {pausable && <button type="button" class="secondary outline small" aria-pressed={pausedByUser} onClick={() => setPaused(!pausedByUser)}>Pause updates</button>}
    </>
  )
}
