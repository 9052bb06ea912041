/** Migrations that are not breaking only add, so that older versions can read and write while they are applied. */
import { assert, describe, it } from "@effect/vitest"
import { migrations } from "../../src/migrations/index.ts"

const schema = "\"s\""

const statementsOf = (sql: string) => sql.replaceAll(/--.*$/gm, "").split(";").map((text) => text.trim().replaceAll(/\s+/g, " ")).filter((text) => text !== "")

/** Reasons why a statement is incompatible with an older version, or blocks writers for long. */
const incompatibilities = (sql: string, existing: ReadonlySet<string>): ReadonlyArray<string> =>
  statementsOf(sql).flatMap((statement) => {
    const index = /^CREATE (?:UNIQUE )?INDEX (IF NOT EXISTS )?\S+ ON (\S+)/.exec(statement)
    if (index !== null) {
      // on a large table an operator can build the index beforehand with CONCURRENTLY
      return existing.has(index[2]!) && index[1] === undefined ? [`no IF NOT EXISTS: ${statement}`] : []
    }
    if (/^CREATE (TABLE|VIEW|FUNCTION) /.test(statement)) return []
    const altered = /^ALTER TABLE (\S+) (.*)$/.exec(statement)
    if (altered === null) return [`not an addition: ${statement}`]
    // objects that the migration itself created are not in use yet
    if (!existing.has(altered[1]!)) return []
    return altered[2]!.split(/, (?=ADD|ALTER|DROP|RENAME)/).flatMap((change) =>
      change.startsWith("ADD COLUMN ") && (!/NOT NULL/.test(change) || /DEFAULT/.test(change)) || /^ADD CONSTRAINT .* NOT VALID$/.test(change) ? [] : [`not an addition: ${change}`])
  })

const tablesOf = (sql: string) => statementsOf(sql).flatMap((statement) => /^CREATE TABLE (\S+)/.exec(statement)?.[1] ?? [])

describe("a migration that is not breaking", () => {
  for (const migration of migrations.filter(({ breaking }) => !breaking)) {
    it(`only adds: ${migration.name}`, () => {
      const existing = new Set(migrations.filter(({ id }) => id < migration.id).flatMap(({ up }) => tablesOf(up(schema))))
      assert.deepEqual(incompatibilities(migration.up(schema), existing), [])
    })
  }

  it("is rejected if it changes or removes anything", () => {
    const existing = new Set(["\"s\".destinations"])
    for (
      const sql of [
        "DROP TABLE \"s\".destinations",
        "ALTER TABLE \"s\".destinations RENAME COLUMN a TO b",
        "ALTER TABLE \"s\".destinations DROP COLUMN a",
        "ALTER TABLE \"s\".destinations ADD COLUMN a text NOT NULL",
        "ALTER TABLE \"s\".destinations ADD COLUMN a text, ALTER COLUMN b TYPE int",
        "CREATE INDEX i ON \"s\".destinations (a)",
        "UPDATE \"s\".destinations SET a = 1"
      ]
    ) assert.lengthOf(incompatibilities(sql, existing), 1, sql)
    assert.deepEqual(incompatibilities("CREATE TABLE \"s\".t (a int); CREATE INDEX i ON \"s\".t (a); ALTER TABLE \"s\".destinations ADD COLUMN a text; CREATE INDEX IF NOT EXISTS j ON \"s\".destinations (a)", existing), [])
  })
})
