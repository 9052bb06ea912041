import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, it } from "vitest"
import { startIdentityProvider } from "./IdentityProvider.ts"
import { operations } from "./Operations.ts"
import { keysOf, requestOf } from "./Requests.ts"
import { startFixture } from "./Fixture.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** Far above random growth, and far below the size of a kept request. */
const allowedBytesPerRequest = 2048

it("refused requests use no memory", async () => {
  const provider = await startIdentityProvider()
  const { acme, service, subjects } = await startFixture(provider, { logLevel: "Error" })
  const customer = await acme.customer("fuzz", ["A1"])
  const keys = { carrier: acme.carrier, customer, others: [customer] }
  const fuzzed = operations.filter(({ endpoint }) => endpoint.access !== "public")

  let refused = 0
  const send = async (rounds: number, first: number) => {
    for (let seed = first; seed < first + rounds; seed++) {
      for (const operation of fuzzed) {
        const { intent, request } = requestOf(operation, subjects.mine, keysOf(operation, keys), seed)
        // Harmless damage adds records, as it should.
        if (intent !== "garbage") continue
        if ((await service.fetch(request)).status >= 400) refused += 1
      }
    }
    collect()
    return process.memoryUsage().heapUsed
  }

  const before = await send(100, 1)
  const warm = refused
  const after = await send(400, 1000)
  expect((after - before) / (refused - warm)).toBeLessThan(allowedBytesPerRequest)
  await service.stop()
  await provider.close()
}, 120_000)
