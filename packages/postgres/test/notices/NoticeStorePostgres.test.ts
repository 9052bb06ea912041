import { NoticeStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

NoticeStoreSuite.suite("Postgres", testStorage())
