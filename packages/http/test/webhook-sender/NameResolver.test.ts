import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { NameResolver, type NameResolverOptions } from "../../src/webhook-sender/NameResolver.ts"
import { makeDnsServer } from "./DnsServer.ts"

const resolver = (options: NameResolverOptions) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const names = new NameResolver({ hostsFile: "/does/not/exist", ...options })
      return { close: () => names.close(), resolve: (name: string) => Effect.tryPromise(() => names.resolve(name)) }
    }),
    ({ close }) => Effect.sync(close)
  )

describe("NameResolver", () => {
  it.live("returns all IPv4 addresses, then all IPv6 addresses", Effect.fnUntraced(function*() {
    const server = yield* makeDnsServer({
      "both.example": { a: ["192.0.2.1", "192.0.2.2"], aaaa: ["2001:db8:0:0:0:0:0:1"] },
      "four.example": { a: ["192.0.2.3"] },
      "six.example": { aaaa: ["2001:db8:0:0:0:0:0:2"] }
    })
    const { resolve } = yield* resolver({ servers: [server.address] })
    assert.deepStrictEqual(yield* resolve("both.example"), ["192.0.2.1", "192.0.2.2", "2001:db8::1"])
    assert.deepStrictEqual(yield* resolve("four.example"), ["192.0.2.3"])
    assert.deepStrictEqual(yield* resolve("six.example"), ["2001:db8::2"])
  }))

  it.live("fails for a name that does not exist or has no address, and asks for no name below a search domain", Effect.fnUntraced(function*() {
    const server = yield* makeDnsServer({ "empty.example": {} })
    const { resolve } = yield* resolver({ servers: [server.address] })
    for (const name of ["unknown.example", "empty.example", "receiver"]) assert.isTrue(Exit.isFailure(yield* Effect.exit(resolve(name))), name)
    assert.deepStrictEqual([...new Set(server.asked)].sort(), ["empty.example a", "empty.example aaaa", "receiver a", "receiver aaaa", "unknown.example a", "unknown.example aaaa"])
  }))

  it.live("resolves a name while many others get no answer", Effect.fnUntraced(function*() {
    const dead = Array.from({ length: 50 }, (_, n) => `dead-${n}.example`)
    const server = yield* makeDnsServer({
      ...Object.fromEntries(dead.map((name) => [name, { a: "silence", aaaa: "silence" } as const])),
      "alive.example": { a: ["192.0.2.1"] }
    })
    const { close, resolve } = yield* resolver({ servers: [server.address] })
    const waiting = yield* Effect.all(dead.map((name) => Effect.forkChild(Effect.exit(resolve(name)))))
    while (server.asked.length < 2 * dead.length) yield* Effect.yieldNow
    assert.deepStrictEqual(yield* resolve("alive.example"), ["192.0.2.1"])
    assert.isTrue(waiting.every((fiber) => fiber.pollUnsafe() === undefined))
    close()
    for (const fiber of waiting) assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
  }))

  it.live("resolves localhost without a hosts file and without a query", Effect.fnUntraced(function*() {
    const server = yield* makeDnsServer({})
    const { resolve } = yield* resolver({ servers: [server.address] })
    assert.deepStrictEqual(yield* resolve("localhost"), ["127.0.0.1", "::1"])
    assert.deepStrictEqual(server.asked, [])
  }))
})
