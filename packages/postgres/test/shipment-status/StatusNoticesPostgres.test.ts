import { StatusNoticesSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

StatusNoticesSuite.suite("Postgres", testStorage())
