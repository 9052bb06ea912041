import { SecretStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

SecretStoreSuite.suite("Postgres", testStorage())
