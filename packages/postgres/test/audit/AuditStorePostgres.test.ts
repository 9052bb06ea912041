import { AuditStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

AuditStoreSuite.suite("Postgres", testStorage())
