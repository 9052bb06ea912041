/** Ways to break who may be sent what, and what operators do to subscriptions, as changes to their text. */
import type { Mutant } from "./Mutant.ts"

const queue = "testkit/src/delivery/DeliveryQueueMemory.ts"
const gate = "testkit/src/delivery/LaneGate.ts"
const control = "testkit/src/delivery/DeliveryControlMemory.ts"
const access = "testkit/src/access/AccessTables.ts"
const shipments = "testkit/src/access/ShipmentTables.ts"

export const accessMutants: ReadonlyArray<Mutant> = [
  // the end of access
  {
    name: "a claim hands out what waits for a client without access",
    file: queue,
    find: "for (const lane of due) if (!gate.admits(lane, now)) holdBack(lane)",
    replace: ""
  },
  {
    name: "access is judged when a lane is claimed first, and not again under its lease",
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
    name: "a suspended tenant is sent to",
    file: gate,
    find: "this.access.isActive(tenantId) && ",
    replace: ""
  },
  {
    name: "access that has run out counts",
    file: access,
    find: "some(({ liveUntil }) => liveUntil > now)",
    replace: "some(({ liveUntil }) => liveUntil > now - 1000)"
  },
  // what a lane that is held keeps
  {
    name: "a lane that is held loses what waits in it",
    file: queue,
    find: `journal.set(lane, "held", true)`,
    replace: `journal.set(lane, "held", true)\n        for (const entry of [...lane.byRef.values()]) rows.drop(lane, entry, "not_visible", 0)`
  },
  {
    name: "a lane that was held is not due when access is back",
    file: queue,
    find: `journal.set(lane, "held", false)\n              rows.wake(lane, now)`,
    replace: `journal.set(lane, "held", false)`
  },
  {
    name: "a tenant that is resumed leaves its lanes held",
    file: queue,
    find: "lane.settings.client !== (client ?? lane.settings.client)",
    replace: "lane.settings.client !== client"
  },
  // what a client may no longer see
  {
    name: "what was seen when it was queued is sent",
    file: gate,
    find: "const changes = this.access.changes + this.shipments.changes",
    replace: "const changes = (lane.clearedAt ??= 0)"
  },
  {
    name: "a client that lost an account is still sent what it saw by it",
    file: access,
    find: "[...before.accounts].some((account) => !after.accounts.has(account))) this.changes += 1",
    replace: "false) this.changes += 1"
  },
  {
    name: "a shipment that was handed over is still sent to those before",
    file: shipments,
    find: "if (before.some((grant) => !after.includes(grant))) this.changes += 1",
    replace: ""
  },
  {
    name: "a delivery with something that may not be seen any more is sent again",
    file: gate,
    find: "for (const delivery of ended) this.withdraw(lane, delivery, now)",
    replace: ""
  },
  {
    name: "what was being sent when it was handed over is sent again",
    file: gate,
    find: "lane.clearedAt = ended.length === frozen.length ? changes : undefined",
    replace: "lane.clearedAt = changes"
  },
  {
    name: "a dead letter that is sent again is not judged anew",
    file: queue,
    find: "lane.clearedAt = undefined",
    replace: ""
  },
  {
    name: "a delivery that ends takes along what its client may still see",
    file: gate,
    find: "for (const entry of delivery.entries) if (!this.rows.waits(lane, entry)) this.rows.enqueue(lane, entry, now)",
    replace: ""
  },
  // operators
  {
    name: "an operator's resume makes a lane active that its client had stopped",
    file: control,
    find: `const resumesAs = state === "inactive" ? "inactive" as const : lane.resumesAs`,
    replace: "const resumesAs = undefined"
  },
  {
    name: "a purge goes on in a lane that was resumed",
    file: control,
    find: `if (lane.status.state === "active") return { dropped: 0, next: undefined }`,
    replace: ""
  },
  {
    name: "a purge leaves the retries",
    file: control,
    find: "const cancelled = cancelRetries(lane, now)",
    replace: "const cancelled = 0"
  },
  {
    name: "a purge ends deliveries that are being sent",
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
