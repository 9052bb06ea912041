import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { hintOf, keysOf, lockDataDir, makeDataDir, readOrCreateText, readText, writeText } from "../../src/config/DataDir.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "waybill-data-dir-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true }))
)

describe("the data directory", () => {
  it.effect("returns the same text to many concurrent callers, readable by its owner only", Effect.fnUntraced(function*() {
    const dir = yield* temporary
    let made = 0
    const texts = yield* Effect.forEach(Array.from({ length: 40 }), () => readOrCreateText(dir, "key", () => `text ${made++}`), { concurrency: "unbounded" })
    assert.strictEqual(new Set(texts).size, 1)
    assert.deepStrictEqual(readdirSync(dir), ["key"])
    assert.strictEqual(statSync(join(dir, "key")).mode & 0o777, 0o600)
  }))

  it.effect("replaces a text atomically", Effect.fnUntraced(function*() {
    const dir = yield* temporary
    assert.strictEqual(yield* readText(dir, "state"), undefined)
    yield* writeText(dir, "state", "one")
    yield* writeText(dir, "state", "two")
    assert.strictEqual(yield* readText(dir, "state"), "two")
    assert.deepStrictEqual(readdirSync(dir), ["state"])
  }))

  it.effect("keeps generated keys over restarts, and generates none when they are configured", Effect.fnUntraced(function*() {
    const dir = join(yield* temporary, "deeper", "data")
    const first = yield* keysOf({ dataDir: dir, operatorKeys: undefined, sealingKeys: undefined })
    const second = yield* keysOf({ dataDir: dir, operatorKeys: undefined, sealingKeys: undefined })
    assert.strictEqual(Redacted.value(first.operators[0]!.key), Redacted.value(second.operators[0]!.key))
    assert.deepStrictEqual(Redacted.value(first.sealing[0]), Redacted.value(second.sealing[0]))
    assert.strictEqual(Redacted.value(first.sealing[0]).length, 32)
    const none = join(dir, "none")
    yield* keysOf({ dataDir: none, operatorKeys: first.operators, sealingKeys: first.sealing })
    assert.isFalse(readdirSync(dir).includes("none"))
  }))

  it.effect("explains how to fix a damaged sealing key", Effect.fnUntraced(function*() {
    const dir = yield* temporary
    writeFileSync(join(dir, "sealing-key"), "half of i")
    const error = yield* Effect.flip(keysOf({ dataDir: dir, operatorKeys: undefined, sealingKeys: undefined }))
    assert.match(error.message, /sealing-key is not the base64 text of 32 bytes\. Restore it/)
    assert.strictEqual(readFileSync(join(dir, "sealing-key"), "utf8"), "half of i")
  }))

  it.effect("is locked by one process at a time, and free again afterwards", Effect.fnUntraced(function*() {
    const dir = yield* temporary
    yield* Effect.scoped(Effect.gen(function*() {
      yield* lockDataDir(dir)
      assert.match((yield* Effect.flip(Effect.scoped(lockDataDir(dir)))).message, /Another Waybill runs on the embedded database in/)
    }))
    assert.isTrue(Exit.isSuccess(yield* Effect.exit(Effect.scoped(lockDataDir(dir)))))
  }))

  it.effect("ends the reason of an error with one period", Effect.fnUntraced(function*() {
    const dir = yield* temporary
    const error = yield* Effect.flip(readOrCreateText(dir, "key", () => {
      throw new Error("No key can be made.")
    }))
    assert.include(error.message, "No key can be made. Point WAYBILL_DATA_DIR")
  }))

  it.effect("names the variable when it cannot be created", Effect.fnUntraced(function*() {
    const dir = yield* temporary
    mkdirSync(join(dir, "a"))
    writeFileSync(join(dir, "a", "file"), "")
    const error = yield* Effect.flip(makeDataDir(join(dir, "a", "file", "data")))
    assert.match(error.message, /Point WAYBILL_DATA_DIR at a directory that this user may write to/)
  }))

  it("has a hint of its own for a read-only file system, a full disk and a missing permission, of files and of its lock", () => {
    const hints = (error: object) => hintOf("/data", Object.assign(new Error("x"), error))
    for (const readOnly of [{ code: "EROFS" }, { code: "ERR_SQLITE_ERROR", errcode: 8 }]) {
      assert.match(hints(readOnly), /^The file system is read-only: mount a writable volume at \/data.* WAYBILL_DATABASE_URL, WAYBILL_OPERATOR_KEY and WAYBILL_SEALING_KEY set, no data directory is needed\.$/)
    }
    for (const full of ["ENOSPC", "EDQUOT"]) assert.match(hints({ code: full }), /^The disk is full/)
    for (const forbidden of [{ code: "EACCES" }, { code: "EPERM" }, { code: "ERR_SQLITE_ERROR", errcode: 14 }]) assert.match(hints(forbidden), /^User \d+ may not write there/)
    assert.match(hints({ code: "ENOTDIR" }), /^Point WAYBILL_DATA_DIR at a directory/)
  })
})
