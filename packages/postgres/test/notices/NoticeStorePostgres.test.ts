import { NoticeStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

NoticeStoreSuite.suite("Postgres", testStorage())
