import { DeliveryGateSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryGateSuite.suite("Postgres", testStorage())
