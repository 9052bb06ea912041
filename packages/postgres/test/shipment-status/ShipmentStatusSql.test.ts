import { layer } from "@effect/vitest"
import { assert } from "vitest"
import { Sql } from "../../src/index.ts"
import { findStatuses } from "../../src/shipment-status/ShipmentStatusSql.ts"
import { withSql } from "../client/database.ts"
import { planOf } from "../PlanScans.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("the accounts of a lookup", (it) => {
  it.effect("are parsed once, not for each shipment of a common bill of lading", withSql(function*() {
    const plan = yield* planOf(findStatuses(Sql.raw(`"${schema}"`), "t", []).text)
    const outputs: Array<string> = []
    const visit = ({ Output = [], Plans = [], "Node Type": type }: typeof plan) => {
      if (type === "Function Scan") outputs.push(...Output)
      Plans.forEach(visit)
    }
    visit(plan)
    // what the scan of the given rows puts out is not computed again
    assert.include(outputs, "(g.accounts)::text[]", JSON.stringify(plan))
    assert.notInclude(outputs, "g.accounts", JSON.stringify(plan))
  }))
})
