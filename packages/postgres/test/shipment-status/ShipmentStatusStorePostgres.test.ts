import { ShipmentStatusStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

ShipmentStatusStoreSuite.suite("Postgres", testStorage())
