import { SecretStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../../TestStorage.ts"

SecretStoreSuite.suite("Postgres", testStorage())
