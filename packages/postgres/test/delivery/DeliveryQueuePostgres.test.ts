import { DeliveryQueueSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryQueueSuite.suite("Postgres", testStorage())
