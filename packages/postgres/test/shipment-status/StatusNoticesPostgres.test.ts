import { StatusNoticesSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

StatusNoticesSuite.suite("Postgres", testStorage())
