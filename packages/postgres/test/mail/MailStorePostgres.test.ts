import { MailStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

MailStoreSuite.suite("Postgres", testStorage())
