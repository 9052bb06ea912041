/** Faulty changes to access checks, and to operator calls on subscriptions. */
import { type Mutant, mutant } from "./Mutant.ts"

const queue = "testkit/src/delivery/DeliveryQueueMemory.ts"
const take = "testkit/src/delivery/TakeMemory.ts"
const store = "testkit/src/delivery/DeliveryStoreMemory.ts"
const tables = "testkit/src/delivery/DestinationTables.ts"
const control = "testkit/src/delivery/DeliveryControlMemory.ts"
const access = "testkit/src/access/AccessTables.ts"
const taking = "core/src/delivery/worker/Taking.ts"
const loading = "core/src/delivery/worker/Loading.ts"
const dropping = "core/src/delivery/worker/Dropping.ts"
const work = "core/src/delivery/worker/WorkSet.ts"

export const accessMutants: ReadonlyArray<Mutant> = [
  // the end of access
  mutant(take, "a client without access receives deliveries",
    ` || !this.rows.admits(destination, this.now)) return`, ") return"),
  mutant(tables, "a suspended tenant receives deliveries",
    "this.access.isActive(tenantId) && ", ""),
  mutant(access, "expired access counts",
    "some(({ liveUntil }) => liveUntil > now)", "some(({ liveUntil }) => liveUntil > now - 1000)"),
  mutant(queue, "restored access leaves no signal",
    "if (destination.settings.client === (client ?? destination.settings.client)) rows.signal(destination, undefined)", ""),
  mutant(queue, "destinations stay held when their tenant is resumed",
    "destination.settings.client === (client ?? destination.settings.client)", "destination.settings.client === client"),
  // lost access to entries
  mutant(take, "access at queueing is enough to send",
    "unseen: !this.rows.sees(destination, entry)", "unseen: false"),
  mutant(take, "a delivery with an entry that its client may no longer see is retried",
    "if (delivery.entries.some((entry) => !this.rows.sees(destination, entry))) {", "if (false) {"),
  mutant(taking, "entries that a client may no longer see are kept",
    "for (const key of found.unseenKeys) tenant.drops.keys.push({ destinationId: found.destinationId, key })", ""),
  mutant(taking, "deliveries that a client may no longer see are kept",
    "for (const deliveryId of found.unseenDeliveries) tenant.drops.deliveries.push({ destinationId: found.destinationId, deliveryId })", ""),
  mutant(store, "a drop removes entries that the client sees again",
    "entriesOf(destination, key).filter((entry) => !this.rows.sees(destination, entry))", "entriesOf(destination, key)"),
  mutant(loading, "entries of a removed subscription stay",
    "  tenant.drops.closed.add(destination.destinationId)\n", ""),
  mutant(tables, "cancelling a delivery drops entries that its client may still see",
    "for (const entry of delivery.entries) if (!this.waits(destination, entry)) this.enqueue(destination, entry, now)", ""),
  mutant(dropping, "entries of a withdrawn delivery are not taken",
    "    destination.behind = true\n    // a delivery", "    // a delivery"),
  mutant(dropping, "what a drop leaves to another transaction that has locked the destination is forgotten",
    "    if (destination !== undefined) work.signalAt(destination, now + lockedMillis)\n", ""),
  mutant(work, "a partition with entries to drop is released as idle",
    "let quiet = !hasDrops(partition.tenant)", "let quiet = true"),
  // operator calls
  mutant(control, "an operator's resume activates a destination that its client had stopped",
    `const resumesAs = state === "inactive" ? state : destination.resumesAs`, "const resumesAs = undefined"),
  mutant(control, "an operator's change of the state leaves no signal",
    "      rows.signal(destination, undefined)\n", ""),
  mutant(control, "a purge continues in a resumed destination",
    `if (destination.status.state === "active") return { dropped: 0, next: undefined }`, ""),
  mutant(control, "a purge keeps retries",
    "const cancelled = cancelRetries(destination, now)", "const cancelled = 0"),
  mutant(control, "a purge cancels deliveries in flight",
    `filter(({ state }) => state === "waiting")`, "filter(() => true)"),
  mutant(control, "a purge resumes a destination that an operator paused",
    `(pauses === "purge" ? reason === purgeReason : pausedBy !== "operator")`, `(pauses === "purge" || pausedBy !== "operator")`),
  mutant(control, "a purge leaves its destination paused",
    `(pauses === "purge" ? reason === purgeReason : pausedBy !== "operator")`, `pausedBy !== "operator"`),
  mutant(control, "a backlog quota drops more than its excess",
    ".slice(0, excess.limit)", ".slice(0, excess.limit + 1)")
]
