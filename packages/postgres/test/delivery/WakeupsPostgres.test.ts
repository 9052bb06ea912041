import { WakeupsSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

WakeupsSuite.suite("Postgres", testStorage())
