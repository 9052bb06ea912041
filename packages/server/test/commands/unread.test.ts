import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { eventually, receiver } from "../program/Program.ts"
import { event } from "../program/Tenant.ts"
import { runningServer, runUnread } from "./Cli.ts"

describe("a command whose output nobody reads any more", { timeout: 120_000 }, () => {
  it("acts on everything it was told to and exits with what became of it, and only following ends", async () => {
    const server = await runningServer()
    let status = 500
    const { url } = await receiver((_, response) => void response.writeHead(status).end())
    await server.customer.createSubscription({
      endpointUrl: url,
      hmacSecretId: "main",
      delivery: { maxAttempts: 1, initialBackoffSeconds: 1, maxBackoffSeconds: 1, batchMaxSize: 1 }
    })
    await server.intake.publishTransitEvents([event("S-1", 1), event("S-2", 1), event("S-3", 1)])
    const inState = async (state: "dead" | "delivered") => (await server.operator.listDeliveries("acme", { state })).data.map(({ deliveryId }) => deliveryId)
    const dead = await eventually(async () => {
      const ids = await inState("dead")
      return ids.length === 3 ? ids : undefined
    })
    status = 200
    expect(await runUnread(["retry", ...dead, randomUUID()], server.env)).toBe(4)
    await eventually(async () => (await inState("delivered")).length === 3 ? true : undefined)
    expect(await runUnread(["tail", "--since", "1h"], server.env)).toBe(0)
  })
})
