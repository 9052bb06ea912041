/** Every scenario, in the order in which they run. */
import { batches } from "./batches.ts"
import type { Scenario } from "./Bench.ts"
import { deliveries } from "./deliveries.ts"
import { publishing } from "./publishing.ts"

export const scenarios: ReadonlyArray<Scenario> = [deliveries, batches, publishing]
