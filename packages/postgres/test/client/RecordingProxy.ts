/** A proxy in front of the test's Postgres that records which statements clients send, and in which round trips. */
import { inject } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** Calls back for each message. The first message of a client has no type. */
const readMessages = (hasStartup: boolean, onMessage: (type: string, body: Buffer) => void) => {
  let pending = Buffer.alloc(0)
  let isStarted = !hasStartup
  return (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const start = isStarted ? 1 : 0
      if (pending.length < start + 4) return
      const end = start + pending.readInt32BE(start)
      if (pending.length < end) return
      if (isStarted) onMessage(String.fromCharCode(pending[0]!), pending.subarray(5, end))
      isStarted = true
      pending = pending.subarray(end)
    }
  }
}

const strings = (body: Buffer, count: number) => body.toString("latin1").split("\0", count)

export const recordingProxy = Effect.gen(function*() {
  const target = new URL(inject("pgUrl"))
  const roundTrips: Array<string> = []
  let most = 0
  const server = createServer((inside: Socket) => {
    const outside = connect(Number(target.port || 5432), target.hostname)
    const texts = new Map<string, string>()
    let statements: Array<string> = []
    /** Whether they have statements: a Sync message alone only asks whether the server is there. */
    const open: Array<boolean> = []
    inside.on("data", readMessages(true, (type, body) => {
      if (type === "P") {
        const [name, text] = strings(body, 2)
        texts.set(name!, text!)
      } else if (type === "B") {
        statements.push(texts.get(strings(body, 2)[1]!)!)
      } else if (type === "S") {
        open.push(statements.length > 0)
        if (statements.length > 0) roundTrips.push(statements.join("; "))
        statements = []
        most = Math.max(most, open.filter((hasStatements) => hasStatements).length)
      }
    }))
    outside.on("data", readMessages(false, (type) => {
      if (type === "Z") open.shift()
    }))
    for (const [one, other] of [[inside, outside], [outside, inside]] as const) {
      one.pipe(other)
      one.on("error", () => {}).on("close", () => other.destroy())
    }
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
    () => Effect.sync(() => server.close())
  )
  const url = new URL(target)
  Object.assign(url, { hostname: "127.0.0.1", port: String((server.address() as AddressInfo).port) })
  return {
    url: Redacted.make(url.href),
    /** The statements of each round trip since the last call, joined by semicolons. */
    takeRoundTrips: () => roundTrips.splice(0),
    /** The most round trips that one connection waited for at a time. */
    most: () => most
  }
})
