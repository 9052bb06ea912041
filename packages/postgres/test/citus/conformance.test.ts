/** The storage suites on distributed tables, and to how many shards each statement of theirs is sent. Run by `npm run citus`. */
import { layer } from "@effect/vitest"
import { storageSuites } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert, describe } from "vitest"
import { PgClient } from "../../src/index.ts"
import { text } from "../../src/client/SqlRow.ts"
import { acrossTenants } from "../AcrossTenants.ts"
import { leasesSetBack, mailsSetBack } from "../ClockSetBack.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { sentStatements, withoutParameters } from "./SentStatements.ts"

/** What EXPLAIN says of some statements with parameters, which Citus plans when they are run. */
const needsValues = /^could not create distributed plan|^no value found for parameter/

const schema = freshSchema()
const sent = sentStatements()

// distributed once, because that takes longer than most suites
describe("on Citus", () => {
  const options = { over: sent.layer, keep: true }
  storageSuites("Citus", testStorage(schema, options))
  leasesSetBack(schema, options)
  mailsSetBack(schema, options)
})

layer(testStorage(schema), { excludeTestServices: true })("statements on Citus", (it) => {
  it.effect("are sent to one shard, except for those that are known to read across tenants", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const ofTables = sent.statements().filter(({ text }) => text.includes(`"${schema}".`))
    const refused: Array<string> = []
    const explained = (statement: string, values: (typeof ofTables)[number]["values"]) =>
      Effect.map(
        sql.bulk(`EXPLAIN (COSTS off) ${statement}`, values, text.hints),
        (rows) => Math.max(0, ...rows.map(([line]) => Number(/Task Count: (\d+)/.exec(String(line))?.[1] ?? 0)))
      )
    const tasksOf = (statement: (typeof ofTables)[number]) =>
      explained(statement.text, statement.values).pipe(
        Effect.catchIf((error) => needsValues.test(error.message), () => explained(withoutParameters(statement), [])),
        Effect.catch((error) => Effect.as(Effect.sync(() => refused.push(`${error.message}\n${statement.text}`)), 0))
      )
    const counted = yield* Effect.forEach(ofTables, (statement) => Effect.map(tasksOf(statement), (tasks) => ({ text: statement.text, tasks })))
    const several = counted.filter(({ tasks }) => tasks > 1)
    const unknown = several.filter(({ text }) => !acrossTenants.some(({ says }) => says.test(text)))
    const reasons = acrossTenants.filter(({ says }) => several.some(({ text }) => says.test(text))).map(({ why }) => `  ${why}`)
    process.stdout.write(`${counted.length - several.length - refused.length} statements go to one shard or to none, ${refused.length} cannot be explained. ${several.length} go to all shards:\n${reasons.join("\n")}\n`)
    assert.isAbove(counted.length, 100)
    assert.deepEqual({ refused, unknown: unknown.map(({ text }) => text) }, { refused: [], unknown: [] })
  }), 120_000)
})
