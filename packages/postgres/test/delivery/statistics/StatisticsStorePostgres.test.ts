import { StatisticsStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../../TestStorage.ts"

StatisticsStoreSuite.suite("Postgres", testStorage())
