import { TransactionSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

TransactionSuite.suite("Postgres", testStorage())
