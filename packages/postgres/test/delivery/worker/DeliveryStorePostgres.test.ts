import { DeliveryOwnershipSuite, DeliverySettleSuite, DeliverySignalsSuite, DeliveryStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../../TestStorage.ts"

DeliveryStoreSuite.suite("Postgres", testStorage())
DeliverySettleSuite.suite("Postgres", testStorage())
DeliverySignalsSuite.suite("Postgres", testStorage())
DeliveryOwnershipSuite.suite("Postgres", testStorage())
