import { DeliveryGateModelSuite, DeliveryGateSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryGateSuite.suite("Postgres", testStorage())
DeliveryGateModelSuite.suite("Postgres", testStorage())
