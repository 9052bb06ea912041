import { MailStoreSuite } from "@waybill/conformance/suites"
import { mailsSetBack } from "../ClockSetBack.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

MailStoreSuite.suite("Postgres", testStorage())
mailsSetBack(freshSchema())
