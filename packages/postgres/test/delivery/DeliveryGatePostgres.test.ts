import { DeliveryGateModelSuite, DeliveryGateSourcesSuite, DeliveryGateSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryGateSuite.suite("Postgres", testStorage())
DeliveryGateModelSuite.suite("Postgres", testStorage())
DeliveryGateSourcesSuite.suite("Postgres", testStorage())
