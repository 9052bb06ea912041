import { assert, expect, it } from "@effect/vitest"
import { Effect, Exit, Logger, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { connectionsFor, limitConnections, shareOfFiles } from "../../src/serve/ConnectionLimit.ts"

it("leaves open files for the database and receivers", () => {
  expect(connectionsFor(shareOfFiles.customers, 1024)).toBe(512)
  expect(connectionsFor(shareOfFiles.operators, 1024)).toBe(102)
  expect(connectionsFor(shareOfFiles.customers, 1_000_000)).toBe(10_000)
  expect(connectionsFor(shareOfFiles.operators, 10)).toBe(2)
})

it.runIf(process.platform === "linux")("takes the limit of open files from the system", () => {
  // A child has the limits of this process.
  const openFiles = execFileSync("/bin/sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim()
  expect(connectionsFor(1 / 1000)).toBe(connectionsFor(1 / 1000, openFiles === "unlimited" ? undefined : Number(openFiles)))
})

/** A server of at most `most` connections, and what it logs. */
const started = Effect.fnUntraced(function*(most: number) {
  const lines: Array<readonly [message: unknown, refused: unknown]> = []
  const logger = Logger.make<unknown, void>(({ fiber, message }) => void lines.push([(message as ReadonlyArray<unknown>)[0], fiber.getRef(References.CurrentLogAnnotations)["refused"]]))
  const server = yield* Effect.acquireRelease(Effect.sync(() => createServer((_, response) => response.end("answered"))), (server) => Effect.sync(() => server.close()))
  yield* limitConnections(server, most).pipe(Effect.provide(Logger.layer([logger])))
  server.listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  const open = Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined)
      await once(socket, "connect")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
  const refused = Effect.flatMap(open, (socket) => Effect.promise(() => once(socket.resume(), "close")))
  return { lines, open, refused }
})

const refusedLine = "HTTP connections refused: 2 are open, which is the limit of this process."

it.effect("closes connections beyond the limit, keeps the others, and logs the number of refused ones once a minute", Effect.fnUntraced(function*() {
  const { lines, open, refused } = yield* started(2)
  const kept = [yield* open, yield* open]
  for (let time = 0; time < 3; time++) yield* refused
  for (const socket of kept) {
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert.include(String((yield* Effect.promise(() => once(socket, "data")))[0]), "200 OK")
  }
  assert.deepStrictEqual(lines, [[refusedLine, 1]])
  yield* TestClock.adjust("1 minute")
  assert.deepStrictEqual(lines.slice(1), [[refusedLine, 2]])
  yield* TestClock.adjust("2 minutes")
  assert.lengthOf(lines, 2)
  yield* refused
  assert.deepStrictEqual(lines.slice(2), [[refusedLine, 1]])
}))

it.effect("logs the number of refused connections when the process stops", Effect.fnUntraced(function*() {
  const scope = yield* Scope.make()
  const { lines, open, refused } = yield* Scope.provide(started(2), scope)
  yield* Scope.provide(Effect.all([open, open, refused, refused, refused]), scope)
  yield* Scope.close(scope, Exit.void)
  assert.deepStrictEqual(lines, [[refusedLine, 1], [refusedLine, 2]])
}))
