/** Faulty changes to access checks, and to operator calls on subscriptions. */
import type { Mutant } from "./Mutant.ts"

const queue = "testkit/src/delivery/DeliveryQueueMemory.ts"
const gate = "testkit/src/delivery/LaneGate.ts"
const control = "testkit/src/delivery/DeliveryControlMemory.ts"
const access = "testkit/src/access/AccessTables.ts"
const shipments = "testkit/src/access/ShipmentTables.ts"

export const accessMutants: ReadonlyArray<Mutant> = [
  // the end of access
  {
    name: "a claim returns entries of a client without access",
    file: queue,
    find: "for (const lane of due) if (!gate.admits(lane, now)) holdBack(lane)",
    replace: ""
  },
  {
    name: "access is checked at the first claim of a lane, and not again under its lease",
    file: queue,
    find: ".filter((lane) => gate.admits(lane, now))\n        for (const lane of refilled)",
    replace: "\n        for (const lane of refilled)"
  },
  {
    name: "a freeze does not notice that access ended after the claim",
    file: queue,
    find: "return lane !== undefined && isActive(lane) && gate.admits(lane, now)",
    replace: "return lane !== undefined && isActive(lane)"
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
  // held lanes
  {
    name: "a held lane loses its waiting entries",
    file: queue,
    find: `journal.set(lane, "held", true)`,
    replace: `journal.set(lane, "held", true)\n        for (const entry of [...lane.byRef.values()]) rows.drop(lane, entry, "not_visible", 0)`
  },
  {
    name: "a held lane is not due when access is restored",
    file: queue,
    find: `journal.set(lane, "held", false)\n              rows.wake(lane, now)`,
    replace: `journal.set(lane, "held", false)`
  },
  {
    name: "lanes stay held when their tenant is resumed",
    file: queue,
    find: "lane.settings.client !== (client ?? lane.settings.client)",
    replace: "lane.settings.client !== client"
  },
  // lost access to entries
  {
    name: "access at queueing is enough to send",
    file: gate,
    find: "const changes = this.access.changes + this.shipments.changes",
    replace: "const changes = (lane.clearedAt ??= 0)"
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
    find: "for (const delivery of ended) this.withdraw(lane, delivery, now)",
    replace: ""
  },
  {
    name: "a delivery in flight at a reassignment is retried",
    file: gate,
    find: "lane.clearedAt = ended.length === frozen.length ? changes : undefined",
    replace: "lane.clearedAt = changes"
  },
  {
    name: "access is not checked again for a retried dead letter",
    file: queue,
    find: "lane.clearedAt = undefined",
    replace: ""
  },
  {
    name: "cancelling a delivery drops entries that its client may still see",
    file: gate,
    find: "for (const entry of delivery.entries) if (!this.rows.waits(lane, entry)) this.rows.enqueue(lane, entry, now)",
    replace: ""
  },
  // operator calls
  {
    name: "an operator's resume activates a lane that its client had stopped",
    file: control,
    find: `const resumesAs = state === "inactive" ? "inactive" as const : lane.resumesAs`,
    replace: "const resumesAs = undefined"
  },
  {
    name: "a purge continues in a resumed lane",
    file: control,
    find: `if (lane.status.state === "active") return { dropped: 0, next: undefined }`,
    replace: ""
  },
  {
    name: "a purge keeps retries",
    file: control,
    find: "const cancelled = cancelRetries(lane, now)",
    replace: "const cancelled = 0"
  },
  {
    name: "a purge cancels deliveries in flight",
    file: control,
    find: `filter(({ state }) => state === "waiting")`,
    replace: "filter(() => true)"
  },
  {
    name: "a purge resumes a lane that an operator paused",
    file: control,
    find: "if (lane.status.reason === purgeReason) resume(lane, now)",
    replace: "resume(lane, now)"
  },
  {
    name: "a purge leaves its lane paused",
    file: control,
    find: "if (lane.status.reason === purgeReason) resume(lane, now)",
    replace: ""
  }
]
