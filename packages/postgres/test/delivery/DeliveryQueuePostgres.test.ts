import { DeliveryQueueSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryQueueSuite.suite("Postgres", testStorage())
