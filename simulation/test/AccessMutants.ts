/** Faulty changes to access checks, and to operator calls on subscriptions. */
import type { Mutant } from "./Mutant.ts"

const queue = "testkit/src/delivery/DeliveryQueueMemory.ts"
const take = "testkit/src/delivery/TakeMemory.ts"
const store = "testkit/src/delivery/DeliveryStoreMemory.ts"
const gate = "testkit/src/delivery/DestinationGate.ts"
const control = "testkit/src/delivery/DeliveryControlMemory.ts"
const access = "testkit/src/access/AccessTables.ts"
const taking = "core/src/delivery/worker/Taking.ts"
const loading = "core/src/delivery/worker/Loading.ts"
const dropping = "core/src/delivery/worker/Dropping.ts"
const work = "core/src/delivery/worker/WorkSet.ts"

export const accessMutants: ReadonlyArray<Mutant> = [
  // the end of access
  {
    name: "a client without access receives deliveries",
    file: take,
    find: ` || !this.gate.admits(destination, this.now)) return`,
    replace: ") return"
  },
  {
    name: "a suspended tenant receives deliveries",
    file: gate,
    find: "this.access.isActive(tenantId) && ",
    replace: ""
  },
  {
    name: "expired access counts",
    file: access,
    find: "some(({ liveUntil }) => liveUntil > now)",
    replace: "some(({ liveUntil }) => liveUntil > now - 1000)"
  },
  {
    name: "restored access leaves no signal",
    file: queue,
    find: "if (destination.settings.client === (client ?? destination.settings.client)) rows.signal(destination, undefined)",
    replace: ""
  },
  {
    name: "destinations stay held when their tenant is resumed",
    file: queue,
    find: "destination.settings.client === (client ?? destination.settings.client)",
    replace: "destination.settings.client === client"
  },
  // lost access to entries
  {
    name: "access at queueing is enough to send",
    file: take,
    find: "unseen: !this.gate.sees(destination, entry)",
    replace: "unseen: false"
  },
  {
    name: "a delivery with an entry that its client may no longer see is retried",
    file: take,
    find: "if (delivery.entries.some((entry) => !this.gate.sees(destination, entry))) {",
    replace: "if (false) {"
  },
  {
    name: "entries that a client may no longer see are kept",
    file: taking,
    find: "for (const key of found.unseenKeys) tenant.drops.keys.push({ destinationId: found.destinationId, key })",
    replace: ""
  },
  {
    name: "deliveries that a client may no longer see are kept",
    file: taking,
    find: "for (const deliveryId of found.unseenDeliveries) tenant.drops.deliveries.push({ destinationId: found.destinationId, deliveryId })",
    replace: ""
  },
  {
    name: "a drop that failed is not repeated",
    rare: true,
    file: dropping,
    find: "      keys.push(...request.keys)\n      deliveries.push(...request.deliveries)\n",
    replace: ""
  },
  {
    name: "a drop removes entries that the client sees again",
    rare: true,
    file: store,
    find: "const unseen = destination?.byKey.get(key)?.filter((entry) => !this.gate.sees(destination, entry)) ?? []",
    replace: "const unseen = destination?.byKey.get(key)?.slice() ?? []"
  },
  {
    name: "a drop does not compare the epoch",
    rare: true,
    file: store,
    find: "const openOf = (id: string) => held.has(partitionOf(id)) ? tenant.destinations.get(id) : undefined",
    replace: "const openOf = (id: string) => tenant.destinations.get(id)"
  },
  {
    name: "entries of a removed subscription stay",
    file: loading,
    find: "  tenant.drops.closed.add(destination.destinationId)\n",
    replace: ""
  },
  {
    name: "cancelling a delivery drops entries that its client may still see",
    file: gate,
    find: "for (const entry of delivery.entries) if (!this.rows.waits(destination, entry)) this.rows.enqueue(destination, entry, now)",
    replace: ""
  },
  {
    name: "entries of a withdrawn delivery are not taken",
    rare: true,
    file: dropping,
    find: "          destination.behind = true\n          // a delivery",
    replace: "          // a delivery"
  },
  {
    name: "a delivery that is seen again before it is withdrawn is forgotten",
    rare: true,
    file: dropping,
    find: "if (withdrawn.has(destinationId)) destination.stale = true",
    replace: ""
  },
  {
    name: "a partition with entries to drop is released as idle",
    rare: true,
    file: work,
    find: "let quiet = !hasDrops(tenant)",
    replace: "let quiet = true"
  },
  // operator calls
  {
    name: "an operator's resume activates a destination that its client had stopped",
    file: control,
    find: `const resumesAs = state === "inactive" ? "inactive" as const : destination.resumesAs`,
    replace: "const resumesAs = undefined"
  },
  {
    name: "an operator's resume leaves no signal",
    file: control,
    find: "        rows.setState(destination, state, undefined, now)\n        rows.signal(destination, undefined)",
    replace: "        rows.setState(destination, state, undefined, now)"
  },
  {
    name: "a purge continues in a resumed destination",
    file: control,
    find: `if (destination.status.state === "active") return { dropped: 0, next: undefined }`,
    replace: ""
  },
  {
    name: "a purge keeps retries",
    file: control,
    find: "const cancelled = cancelRetries(destination, now)",
    replace: "const cancelled = 0"
  },
  {
    name: "a purge cancels deliveries in flight",
    rare: true,
    file: control,
    find: `filter(({ state }) => state === "waiting")`,
    replace: "filter(() => true)"
  },
  {
    name: "a purge resumes a destination that an operator paused",
    file: control,
    find: "if (destination.status.reason === purgeReason) resume(destination, now)",
    replace: "resume(destination, now)"
  },
  {
    name: "a purge leaves its destination paused",
    file: control,
    find: "if (destination.status.reason === purgeReason) resume(destination, now)",
    replace: ""
  },
  {
    name: "a backlog quota drops more than its excess",
    file: control,
    find: ".slice(0, excess.limit)",
    replace: ".slice(0, excess.limit + 1)"
  }
]
