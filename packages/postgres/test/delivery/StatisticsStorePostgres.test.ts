import { StatisticsStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

StatisticsStoreSuite.suite("Postgres", testStorage())
