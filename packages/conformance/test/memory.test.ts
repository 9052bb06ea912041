import { StorageMemory } from "@waybill/testkit"
import { storageSuites } from "../src/suites.ts"

storageSuites("memory", StorageMemory.layer)
