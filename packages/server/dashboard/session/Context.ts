/** Shared by all views: the API client, the route, screen reader messages, and the pause switch. */
import type { OperatorClient } from "@waybill/client/operator"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

/** `Client`: the one of the page, an `OperatorClient` in the dashboard. */
export interface AppState<Client = OperatorClient> {
  readonly client: Client
  /** Announced by screen readers when idle. */
  readonly announce: (sentence: string) => void
  /** The page is hidden, or its user paused updates. */
  readonly paused: boolean
  readonly connection: (state: Connection) => void
  /** The server refused the credential itself. */
  readonly keyRefused: (failure: unknown) => void
  /** Counts presses of "refresh". */
  readonly refreshes: number
}

/** Connection state of the view's requests. */
export interface Connection {
  readonly failingSince: number | undefined
}

export const AppStateContext = createContext<AppState<unknown> | undefined>(undefined)

export const useAppState = <Client = OperatorClient>(): AppState<Client> => {
  const app = useContext(AppStateContext)
  if (app === undefined) throw new Error("useAppState needs an AppStateContext provider.")
  return app as AppState<Client>
}
