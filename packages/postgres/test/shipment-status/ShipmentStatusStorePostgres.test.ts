import { ShipmentStatusStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

ShipmentStatusStoreSuite.suite("Postgres", testStorage())
