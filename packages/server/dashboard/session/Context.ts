/** Shared by all views: the API client, the route, screen reader messages, and the pause switch. */
import type { OperatorClient } from "@waybill/client/operator"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

export interface Desk {
  readonly client: OperatorClient
  /** Announced by screen readers when idle. */
  readonly say: (sentence: string) => void
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

export const DeskContext = createContext<Desk | undefined>(undefined)

export const useDesk = (): Desk => {
  const desk = useContext(DeskContext)
  if (desk === undefined) throw new Error("A view stands outside of the app.")
  return desk
}
