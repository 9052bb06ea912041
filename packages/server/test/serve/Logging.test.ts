import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@waybill/core"
import { Cause, Effect } from "effect"
import { SqlError } from "effect/sql"
import { fatalLine, loggingLayer, makeLineWriter } from "../../src/serve/Logging.ts"

const logged = (format: "json" | "pretty", effect: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    yield* Effect.provide(effect, loggingLayer({ format, level: "Info", write: (line) => void lines.push(line) }))
    return lines
  })

describe("the log", () => {
  it.effect("is one JSON object per entry, with its annotations next to the message", Effect.fnUntraced(function*() {
    const lines = yield* logged("json", Effect.annotateLogs(Effect.logInfo("Delivered."), { tenant: "acme", events: 3 }))
    assert.strictEqual(lines.length, 1)
    const { time, ...entry } = JSON.parse(lines[0]!)
    assert.match(time, /^\d{4}-\d\d-\d\dT/)
    assert.deepStrictEqual(entry, { level: "info", message: "Delivered.", tenant: "acme", events: 3 })
  }))

  it.effect("contains the causes of a failure, without a stack for expected errors", Effect.fnUntraced(function*() {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" })
    const error = new StorageError({ operation: "AccessStore.findKeys", cause: refused })
    const [line] = yield* logged("json", Effect.logError("It failed.", Cause.fail(error)))
    assert.strictEqual(JSON.parse(line!).cause, `${error.message}: connect ECONNREFUSED 127.0.0.1:5432`)
    const broken = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("Connection terminated unexpectedly"), message: "Connection terminated unexpectedly" }) })
    const [lost] = yield* logged("json", Effect.logError("It failed.", Cause.fail(new StorageError({ operation: "AccessStore.findKeys", cause: broken }))))
    assert.strictEqual(JSON.parse(lost!).cause, `${error.message}: Connection terminated unexpectedly`)
    const [silent] = yield* logged("json", Effect.logError("It failed.", new StorageError({ operation: "AccessStore.findKeys", cause: "No answer came." })))
    assert.strictEqual(JSON.parse(silent!).cause, `${error.message}: No answer came.`)
    const [defect] = yield* logged("json", Effect.logError("It died.", Cause.die(new TypeError("not a function"))))
    assert.match(JSON.parse(defect!).cause, /TypeError: not a function\n\s+at /)
  }))

  it.effect("ends for a cause that contains itself, and has numbers beyond the safe ones", Effect.fnUntraced(function*() {
    const [first, second] = [Object.assign(new Error("first"), { code: "A" }), Object.assign(new Error("second"), { code: "B" })]
    first.cause = second
    second.cause = first
    const [line] = yield* logged("json", Effect.annotateLogs(Effect.logError("It failed.", first), { bytes: 2n ** 60n }))
    const { bytes, cause } = JSON.parse(line!)
    assert.deepStrictEqual([bytes, cause], ["1152921504606846976", "first: second"])
  }))

  it.effect("contains no secret, even when an error quotes one", Effect.fnUntraced(function*() {
    const key = `wb.YWNtZQ.01a1f7e2-3442-7503-a070-1baffbfbc48e.${"k".repeat(43)}`
    const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`
    const url = "postgres://waybill:hunter2@db.internal/waybill"
    for (const format of ["json", "pretty"] as const) {
      const lines = yield* logged(format, Effect.annotateLogs(Effect.logError(`${key} ${secret}`, new Error(url)), { url }))
      assert.notMatch(lines.join("\n"), /kkkk|BQUF|hunter2/)
      assert.match(lines.join("\n"), /postgres:\/\/waybill:…@db\.internal/)
    }
    assert.notMatch(fatalLine(`${key} ${secret} ${url}`), /kkkk|BQUF|hunter2/)
  }))

  it.effect("has one line for each entry as text, whatever names of files and texts of partners contain", Effect.fnUntraced(function*() {
    const [line] = yield* logged("pretty", Effect.annotateLogs(Effect.logWarning("Read."), { file: "a\n12:00:00 error Forged.\u001b[31m\u202e", fault: { detail: "b\u009b" } }))
    assert.match(line!, /Read\. file=a\\n12:00:00 error Forged\.\\u001b\[31m\\u202e fault=\{"detail":"b\\u009b"\}$/)
  }))

  it.effect("leaves out what is below its level", Effect.fnUntraced(function*() {
    assert.deepStrictEqual(yield* logged("pretty", Effect.logDebug("looking for work")), [])
  }))

  it("drops lines while its reader does not read, and says how many", () => {
    const written: Array<string> = []
    const stream = { writableLength: 0, write: (text: string) => (written.push(text), true) }
    const { flush, writeLine } = makeLineWriter(stream)
    const line = (text: string, unread: number) => {
      stream.writableLength = unread
      writeLine(text)
      flush()
    }
    line("first", 1024)
    line("second", 2 ** 25)
    line("third", 2 ** 25)
    line("fourth", 0)
    line("fifth", 0)
    const [first, note, fourth, fifth] = written.join("").trimEnd().split("\n")
    assert.deepStrictEqual([first, fourth, fifth, written.length], ["first", "fourth", "fifth", 3])
    assert.include(JSON.parse(note!), { level: "warn", message: "Log lines dropped: 2. The reader of the log did not read." })
  })
})
