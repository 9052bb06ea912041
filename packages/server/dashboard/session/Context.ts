/** Shared by all views: the API client, the route, screen reader messages, and the pause switch. */
import type { OperatorClient } from "@waybill/client/operator"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

export interface AppState {
  readonly client: OperatorClient
  /** Announced by screen readers when idle. */
  readonly announce: (sentence: string) => void
  /** The page is hidden, or the operator paused updates. */
  readonly paused: boolean
  readonly connection: (state: Connection) => void
  readonly keyRefused: () => void
  /** Counts presses of "refresh". */
  readonly refreshes: number
}

/** Connection state of the view's requests. */
export interface Connection {
  readonly failingSince: number | undefined
}

export const AppStateContext = createContext<AppState | undefined>(undefined)

export const useAppState = (): AppState => {
  const app = useContext(AppStateContext)
  if (app === undefined) throw new Error("useAppState needs an AppStateContext provider.")
  return app
}
