import { WakeupsSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

WakeupsSuite.suite("Postgres", testStorage())
