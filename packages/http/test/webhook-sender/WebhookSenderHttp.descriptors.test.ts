import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { connect, Socket } from "node:net"
import { vi } from "vitest"
import { makeReceiver } from "./Receiver.ts"
import { loopbackSender, send, summary } from "./Sending.ts"

vi.mock("node:net", { spy: true })

/** A connection that fails as in a process whose file descriptors are used up. */
const failing = (code: string) => (): Socket => {
  const socket = new Socket()
  process.nextTick(() => socket.destroy(Object.assign(new Error(`connect ${code} 127.0.0.1`), { code })))
  return socket
}

describe("WebhookSenderHttp in a process without a free file descriptor", () => {
  it.live("does not take its own failure for one of the receiver, and logs it", () => {
    const logged: Array<string> = []
    return Effect.gen(function*() {
      const receiver = yield* makeReceiver()
      for (const code of ["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]) {
        vi.mocked(connect).mockImplementationOnce(failing(code))
        assert.deepStrictEqual(yield* send(receiver.url), { _tag: "Interrupted", unsent: "The sending process could not open a connection." } as never)
      }
      assert.match(logged.join(), /^Webhooks not sent: this process cannot open connections\./)
      vi.mocked(connect).mockImplementationOnce(failing("ECONNREFUSED"))
      assert.strictEqual(summary(yield* send(receiver.url)), "connect_refused")
      assert.strictEqual(summary(yield* send(receiver.url)), "Accepted 200")
    }).pipe(Effect.provide(loopbackSender()), Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])), Effect.scoped)
  })
})
