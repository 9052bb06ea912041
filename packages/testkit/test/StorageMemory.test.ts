import { StorageMemory } from "../src/index.ts"
import { storageSuites } from "../src/suites.ts"

storageSuites("memory", StorageMemory.layer)
