import { AuditStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

AuditStoreSuite.suite("Postgres", testStorage())
