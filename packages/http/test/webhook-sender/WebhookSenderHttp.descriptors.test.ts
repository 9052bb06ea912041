import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { syncBuiltinESMExports } from "node:module"
import net, { Socket } from "node:net"
import { vi } from "vitest"
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
})
