/** Faulty changes to access checks, and to operator calls on subscriptions. */
import type { Mutant } from "./Mutant.ts"

const queue = "testkit/src/delivery/DeliveryQueueMemory.ts"
const gate = "testkit/src/delivery/DestinationGate.ts"
const control = "testkit/src/delivery/DeliveryControlMemory.ts"
const access = "testkit/src/access/AccessTables.ts"
const shipments = "testkit/src/access/ShipmentTables.ts"

export const accessMutants: ReadonlyArray<Mutant> = [
  // the end of access
  {
    name: "a claim returns entries of a client without access",
    file: queue,
    find: "for (const destination of due) if (!gate.admits(destination, now)) holdBack(destination)",
    replace: ""
  },
  {
    name: "access is checked at the first claim of a destination, and not again under its lease",
    file: queue,
    find: ".filter((destination) => gate.admits(destination, now))\n        for (const destination of refilled)",
    replace: "\n        for (const destination of refilled)"
  },
  {
    name: "a freeze does not notice that access ended after the claim",
    file: queue,
    find: "return destination !== undefined && isActive(destination) && gate.admits(destination, now)",
    replace: "return destination !== undefined && isActive(destination)"
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
  // held destinations
  {
    name: "a held destination loses its waiting entries",
    file: queue,
    find: `journal.set(destination, "held", true)`,
    replace: `journal.set(destination, "held", true)\n        for (const entry of [...destination.byRef.values()]) rows.drop(destination, entry, "not_visible", 0)`
  },
  {
    name: "a held destination is not due when access is restored",
    file: queue,
    find: `journal.set(destination, "held", false)\n              rows.wake(destination, now)`,
    replace: `journal.set(destination, "held", false)`
  },
  {
    name: "destinations stay held when their tenant is resumed",
    file: queue,
    find: "destination.settings.client !== (client ?? destination.settings.client)",
    replace: "destination.settings.client !== client"
  },
  // lost access to entries
  {
    name: "access at queueing is enough to send",
    file: gate,
    find: "const changes = this.access.changes + this.shipments.changes",
    replace: "const changes = (destination.clearedAt ??= 0)"
  },
  {
    name: "a client that lost an account still receives events of that account",
    file: access,
    find: "[...before.accounts].some((account) => !after.accounts.has(account))) this.changes += 1",
    replace: "false) this.changes += 1"
  },
  {
    name: "a reassigned shipment is still sent to its previous accounts",
    file: shipments,
    find: "if (before.some((grant) => !after.includes(grant))) this.changes += 1",
    replace: ""
  },
  {
    name: "a delivery with an entry that its client may no longer see is retried",
    file: gate,
    find: "for (const delivery of ended) this.withdraw(destination, delivery, now)",
    replace: ""
  },
  {
    name: "a delivery in flight at a reassignment is retried",
    file: gate,
    find: "destination.clearedAt = ended.length === frozen.length ? changes : undefined",
    replace: "destination.clearedAt = changes"
  },
  {
    name: "access is not checked again for a retried dead letter",
    file: queue,
    find: "destination.clearedAt = undefined",
    replace: ""
  },
  {
    name: "cancelling a delivery drops entries that its client may still see",
    file: gate,
    find: "for (const entry of delivery.entries) if (!this.rows.waits(destination, entry)) this.rows.enqueue(destination, entry, now)",
    replace: ""
  },
  // operator calls
  {
    name: "an operator's resume activates a destination that its client had stopped",
    file: control,
    find: `const resumesAs = state === "inactive" ? "inactive" as const : destination.resumesAs`,
    replace: "const resumesAs = undefined"
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
  }
]
