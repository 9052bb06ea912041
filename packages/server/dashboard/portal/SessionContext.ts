/** Shared by the portal's views: the session, and requests with the portal's client. */
import type { PortalClient, PortalSession } from "@waybill/client/portal"
import { createContext } from "preact"
import { useAppState } from "../session/Context.ts"
import { type Polled, usePolled } from "../session/usePolled.ts"

export const SessionContext = createContext<PortalSession | undefined>(undefined)

/** Less often than operators: many customers may have the page open. */
const pollMillis = 10_000

export const usePortalClient = (): PortalClient => useAppState<PortalClient>().client

export const usePortal = <A,>(question: string, ask: (client: PortalClient, signal: AbortSignal) => Promise<A>): Polled<A> => usePolled<A, PortalClient>(question, ask, pollMillis)
