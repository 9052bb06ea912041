/** Receivers that do everything wrong, in a process of their own and behind everybody else's: what they cost themselves is not measured. */
import { type HostileBehaviourName, hostileBehaviours, startHostileReceiver } from "@waybill/testkit/hostile"
import { setPriority } from "node:os"
import { serve } from "./Child.ts"

setPriority(19)

const hostile = await startHostileReceiver()

export interface HostileAddress {
  readonly name: HostileBehaviourName
  readonly url: string
  /** Only the deadline ends an attempt there. */
  readonly hangs: boolean
}

const handlers = {
  addresses: (): ReadonlyArray<HostileAddress> =>
    hostileBehaviours.map(({ ends, name }) => ({ name, url: hostile.url(name), hangs: ends === "deadline" })),
  ca: () => hostile.ca,
  /** Connections to where nobody may go. */
  inside: () => hostile.inside.connections()
}

export type HostileHandlers = typeof handlers

serve(handlers, () => hostile.stop())
