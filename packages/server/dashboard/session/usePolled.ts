/** Polls a request while its view is visible. */
import type { OperatorClient } from "@waybill/client/operator"
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { everyMillis, Poller, type Seen } from "../model/Poller.ts"
import { useAppState } from "./Context.ts"
import { isKeyRefused } from "./Server.ts"

export interface Polled<A> extends Seen<A> {
  /** `data` answers the request before this one. */
  readonly stale: boolean
  /** Sends a request at once, after a change by the user. */
  readonly refresh: () => void
}

type Ask<A, Client> = (client: Client, signal: AbortSignal) => Promise<A>

/** The last responses, so that Back shows data at once. */
const remembered = new Map<string, unknown>()
const rememberedMost = 20

const remember = (question: string, data: unknown): void => {
  remembered.delete(question)
  remembered.set(question, data)
  if (remembered.size > rememberedMost) remembered.delete(remembered.keys().next().value!)
}

/** Another key may see other data. */
export const forgetAnswers = (): void => remembered.clear()

let last: Promise<unknown> = Promise.resolve()

/** Pollers of one view take turns, so that the server has one request of this page at a time. */
const inTurn = <A>(ask: () => Promise<A>): Promise<A> => {
  const asked = last.then(ask)
  last = asked.catch(() => {})
  return asked
}

/** `question` identifies the request: while it stays the same, the same poller continues. `undefined` sends none. */
export const usePolled = <A, Client = OperatorClient>(question: string | undefined, ask: Ask<A, Client>, pollMillis = everyMillis): Polled<A> => {
  const app = useAppState<Client>()
  const [seen, setSeen] = useState<{ readonly of: string | undefined; readonly seen: Seen<A> }>()
  const poller = useRef<Poller<A> | undefined>(undefined)
  const current = useRef({ ask, app })
  current.current = { ask, app }

  useEffect(() => {
    if (question === undefined) return
    const made = new Poller<A>({
      ask: (signal) => inTurn(() => current.current.ask(current.current.app.client, signal)),
      before: remembered.get(question) as A | undefined,
      pollMillis,
      seen: (seen) => {
        const { app } = current.current
        if (seen.failure === undefined) remember(question, seen.data)
        else if (isKeyRefused(seen.failure)) return app.keyRefused(seen.failure)
        app.connection({ failingSince: seen.failingSince })
        setSeen({ of: question, seen })
      }
    })
    poller.current = made
    // A view that is opened while paused is loaded once.
    if (current.current.app.paused) made.now()
    else made.start()
    return () => made.stop()
  }, [question])

  const before = useRef({ paused: app.paused, refreshes: app.refreshes })
  useEffect(() => {
    const { paused, refreshes } = before.current
    before.current = { paused: app.paused, refreshes: app.refreshes }
    if (app.paused && !paused) poller.current?.stop()
    if (!app.paused && paused) poller.current?.start()
    else if (app.refreshes !== refreshes) poller.current?.now()
  }, [app.paused, app.refreshes])

  const refresh = useCallback(() => poller.current?.now(), [])
  if (question === undefined) return { data: undefined, failure: undefined, failingSince: undefined, stale: false, refresh }
  if (seen !== undefined && seen.of === question) return { ...seen.seen, stale: false, refresh }
  const known = remembered.get(question)
  return { data: (known ?? seen?.seen.data) as A | undefined, failure: undefined, failingSince: undefined, stale: known === undefined, refresh }
}
