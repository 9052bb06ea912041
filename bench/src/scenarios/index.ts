/** Every scenario, in the order in which they run. */
import { batches } from "./batches.ts"
import type { Scenario } from "./Bench.ts"
import { deliveries } from "./deliveries.ts"
import { documents } from "./documents.ts"
import { isolation } from "./isolation.ts"
import { latency } from "./latency.ts"
import { lookups } from "./lookups.ts"
import { matching } from "./matching.ts"
import { memory } from "./memory.ts"
import { paging } from "./paging.ts"
import { publishing } from "./publishing.ts"

export const scenarios: ReadonlyArray<Scenario> = [deliveries, batches, publishing, matching, latency, isolation, paging, lookups, memory, documents]
