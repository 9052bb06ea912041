/** Hostile receivers in a separate low-priority process, because their own cost is not measured. */
import { type HostileBehaviourName, hostileBehaviours, startHostileReceiver } from "@waybill/conformance/hostile"
import { setPriority } from "node:os"
import { serve } from "./Child.ts"

setPriority(19)

const hostile = await startHostileReceiver()

export interface HostileAddress {
  readonly name: HostileBehaviourName
  readonly url: string
  /** Addresses where only the deadline ends an attempt. */
  readonly hangs: boolean
}

const handlers = {
  addresses: (): ReadonlyArray<HostileAddress> =>
    hostileBehaviours.map(({ ends, name }) => ({ name, url: hostile.url(name), hangs: ends === "deadline" })),
  ca: () => hostile.ca,
  /** Connections to the internal address that no sender may reach. */
  inside: () => hostile.inside.connections()
}

export type HostileHandlers = typeof handlers

serve(handlers, () => hostile.stop())
