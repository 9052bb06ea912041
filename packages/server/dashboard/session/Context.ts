/** What every view may use: the calls, the address, a voice, and whether things move. */
import type { OperatorClient } from "@waybill/client/operator"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

export interface Desk {
  readonly client: OperatorClient
  /** Read out politely by screen readers. */
  readonly say: (sentence: string) => void
  /** Nobody looks, or somebody wants it to stand still. */
  readonly paused: boolean
  readonly connection: (state: Connection) => void
  readonly keyRefused: () => void
  /** Counts presses of "refresh". */
  readonly refreshes: number
}

/** How the view's questions are answered. */
export interface Connection {
  readonly failingSince: number | undefined
}

export const DeskContext = createContext<Desk | undefined>(undefined)

export const useDesk = (): Desk => {
  const desk = useContext(DeskContext)
  if (desk === undefined) throw new Error("A view stands outside of the app.")
  return desk
}
