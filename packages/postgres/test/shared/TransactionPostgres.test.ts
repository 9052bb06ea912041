import { TransactionSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

TransactionSuite.suite("Postgres", testStorage())
