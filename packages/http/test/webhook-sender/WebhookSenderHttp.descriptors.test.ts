import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import net, { Socket } from "node:net"
import { vi } from "vitest"
import { NameResolver } from "../../src/webhook-sender/NameResolver.ts"
import { makeReceiver } from "./Receiver.ts"
import { loopbackSender, send, summary } from "./Sending.ts"

/** The next connection fails as in a process whose file descriptors are used up. */
const failNext = (code: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const connect = vi.spyOn(net, "connect").mockImplementation((() => {
        const socket = new Socket()
        process.nextTick(() => socket.destroy(Object.assign(new Error(`connect ${code} 127.0.0.1`), { code })))
        return socket
      }) as never)
      syncBuiltinESMExports()
      return connect
    }),
    (connect) => Effect.sync(() => {
      connect.mockRestore()
      syncBuiltinESMExports()
    })
  )

/** A file cannot be opened either. Node reports a query that it could not send as refused by the DNS servers. */
const withoutFiles = Effect.acquireRelease(
  Effect.sync(() => {
    const open = vi.spyOn(fs, "openSync").mockImplementation(() => {
      throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" })
    })
    syncBuiltinESMExports()
    return open
  }),
  (open) => Effect.sync(() => {
    open.mockRestore()
    syncBuiltinESMExports()
  })
)

describe("WebhookSenderHttp in a process without a free file descriptor", () => {
  it.live("does not take its own failure for one of the receiver, and logs it", () => {
    const logged: Array<string> = []
    return Effect.gen(function*() {
      const receiver = yield* makeReceiver()
      const failed = (code: string) => Effect.scoped(Effect.andThen(failNext(code), send(receiver.url)))
      for (const code of ["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]) {
        assert.deepStrictEqual(yield* failed(code), { _tag: "Interrupted", unsent: "The sending process could not open a connection." } as never)
      }
      assert.match(logged.join(), /^Webhooks not sent: this process cannot open connections\./)
      assert.strictEqual(summary(yield* failed("ECONNREFUSED")), "connect_refused")
      assert.strictEqual(summary(yield* send(receiver.url)), "Accepted 200")
    }).pipe(Effect.provide(loopbackSender()), Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])), Effect.scoped)
  })

  it.live("does not take a name that it could not look up for one that does not exist", () => {
    // nothing listens there
    const names = new NameResolver({ hostsFile: "/does/not/exist", servers: ["127.0.0.1:1"] })
    return Effect.gen(function*() {
      const url = "https://receiver.example/"
      assert.deepStrictEqual(yield* Effect.scoped(Effect.andThen(withoutFiles, send(url))), { _tag: "Interrupted", unsent: "The sending process could not open a connection." } as never)
      assert.strictEqual(summary(yield* send(url)), "dns")
    }).pipe(Effect.provide(loopbackSender({ resolve: (name) => names.resolve(name) })))
  })
})
