import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { once } from "node:events"
import { connect } from "node:net"
import { listen } from "../../src/serve/Listener.ts"

/** More than the 511 that Node lets wait by default. */
const burst = 600

const somaxconn = "/proc/sys/net/core/somaxconn"
const takesBurst = existsSync(somaxconn) && Number(readFileSync(somaxconn, "utf8")) >= burst

it.effect.runIf(takesBurst)("lets a burst of connections wait instead of dropping their first packets", Effect.fnUntraced(function*() {
  const { port, server } = yield* listen({ host: "127.0.0.1", port: 0 })
  let accepted = 0
  let connected = 0
  // Node accepts one connection in a turn, and each socket whose packet was not dropped is connected in the first turns.
  const connectedThen = new Promise<number>((resolve) => {
    server.on("connection", () => {
      if (++accepted === burst / 2) resolve(connected)
    })
  })
  const sockets = Array.from({ length: burst }, () => connect(port, "127.0.0.1", () => connected++))
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(sockets.map((socket) => once(socket.destroy(), "close")))))
  assert.strictEqual(yield* Effect.promise(() => connectedThen), burst)
}))
