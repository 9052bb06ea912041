/** Failures of a host's transaction around a call, in every library. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { type Host, hosts, type Open } from "./Hosts.ts"
import { carrier, contents, customer, deliver, event, rejected, type Service, startService, subscribeToAll } from "./Service.ts"

const over = "The transaction given to within(tx) is over, or never began. Call within(tx) inside it, and await the call before it ends."
const failed = "The transaction given to within(tx) has failed: one of its statements did, and the error was caught. Roll it back, or put such a statement into a savepoint."

describe.each(hosts.map((hostOf) => ({ host: hostOf({ url: inject("pgUrl"), max: 3 }) })))("the transaction of $host.name", ({ host }: { readonly host: Host }) => {
  let service: Service

  beforeAll(async () => {
    service = await startService()
    await subscribeToAll(service)
  })
  afterAll(async () => {
    await host.close()
    await service.close()
  })

  const publish = ({ within }: Open, id: string) => service.waybill.within(within).events.publish(carrier, [event(id, id)])
  /** Other content under a known id. */
  const contradicting = (id: string) => ({ ...event(id, id), occurredAt: "2026-11-21T09:15:00-06:00" })
  const own = ({ send }: Open, id: string) => send(`INSERT INTO ${service.own} VALUES ('${id}')`)
  const stored = async () => (await service.waybill.events.list(customer, { pageSize: 500 })).data.map(({ eventId }) => eventId).sort()

  /** Runs it and returns the stored events, and the events in deliveries. */
  const leaves = async (run: () => Promise<unknown>) => {
    const before = await stored()
    await run()
    const events = (await stored()).filter((id) => !before.includes(id))
    const delivered = (await deliver(service)).flatMap(({ body }) => body.events.map((each: { readonly eventId: string }) => each.eventId)).sort()
    expect(delivered, "each once").toEqual(events)
    return events
  }

  it("a rolled back savepoint of the host removes the events published in it, and nothing else", async () => {
    expect(await leaves(() =>
      host.transaction(async (outer) => {
        await publish(outer, "n1")
        await rejected(outer.nested(async (inner) => {
          await publish(inner, "n2")
          throw new Error("not this one")
        }))
        await outer.nested((inner) => publish(inner, "n3"))
        await publish(outer, "n4")
      })
    )).toEqual(["n1", "n3", "n4"])
  })

  it("a released savepoint ends with its outer transaction", async () => {
    expect(await leaves(async () => {
      const error = await rejected(host.transaction(async (outer) => {
        await outer.nested(async (inner) => {
          await publish(inner, "k1")
          await inner.nested((innermost) => publish(innermost, "k2"))
        })
        throw new Error("none of it")
      }))
      expect(error.message).toBe("none of it")
    })).toEqual([])
  })

  it("a refused call leaves the host's transaction usable, and only the refused call is missing", async () => {
    expect(await leaves(() =>
      host.transaction(async (open) => {
        await own(open, "u1")
        await publish(open, "u1")
        const refused = await rejected(service.waybill.within(open.within).events.publish(carrier, [{ ...event("u2", "u2"), type: "LOST" as never }]))
        expect(refused).toMatchObject({ code: "invalid_input", status: 400 })
        expect(await publish(open, "u1")).toMatchObject([{ result: "duplicate" }])
        const taken = await rejected(service.waybill.within(open.within).events.publish(carrier, [contradicting("u1")]))
        expect(taken.message).toContain("u1")
        await publish(open, "u3")
      })
    )).toEqual(["u1", "u3"])
  })

  it("a failed statement of the host rolls everything back when the host does not handle it", async () => {
    const before = await contents(service)
    const error = await rejected(host.transaction(async (open) => {
      await publish(open, "f1")
      await own(open, "f1")
      await own(open, "f1")
    }))
    expect(error.message).not.toBe("It was fulfilled.")
    expect(await contents(service)).toEqual(before)
  })

  it("a failed statement of the host in a savepoint is rolled back with it", async () => {
    expect(await leaves(() =>
      host.transaction(async (open) => {
        await rejected(open.nested((inner) => inner.send("SELECT 1 / 0")))
        await publish(open, "s1")
      })
    )).toEqual(["s1"])
  })

  it("a failed transaction is refused with a message that says so", async () => {
    expect(await leaves(() =>
      rejected(host.transaction(async (open) => {
        await publish(open, "x1")
        await rejected(open.send("SELECT 1 / 0"))
        expect(await rejected(publish(open, "x2"))).toMatchObject({ status: 500, message: failed })
        throw new Error("rolled back")
      }))
    )).toEqual([])
  })

  it("an ended transaction is refused with a message that says so, and nothing is stored", async () => {
    expect(await leaves(async () => {
      for (const end of ["commit", "rollback"]) {
        let left: Open | undefined
        await rejected(host.transaction(async (open) => {
          left = open
          await publish(open, `over-${end}`)
          if (end === "rollback") throw new Error("rolled back")
        }))
        const before = await contents(service)
        const refused = await rejected(publish(left!, `late-${end}`))
        expect([refused.status, refused.message]).toEqual([
          500,
          host.name === "pg" ? "The host's client has no transaction open. Send BEGIN and await it first." : over
        ])
        expect(await contents(service)).toEqual(before)
      }
    })).toEqual(["over-commit"])
  })

  it("concurrent calls run one after the other, and a failed one does not affect the others", async () => {
    expect(await leaves(() =>
      host.transaction(async (open) => {
        const tx = service.waybill.within(open.within)
        const bad = () => tx.events.publish(carrier, [event("p0", "p0"), contradicting("p1")])
        await publish(open, "p1")
        const answers = await Promise.allSettled([publish(open, "p2"), bad(), publish(open, "p3"), bad(), service.waybill.within(open.within).events.publish(carrier, [event("p4", "p4")])])
        expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"])
      })
    )).toEqual(["p1", "p2", "p3", "p4"])
  })

  it("a value that is not a transaction is refused with a message", async () => {
    const attempt = async () => service.waybill.within(host.notOpen()).events.publish(carrier, [event("z", "z")])
    expect((await rejected(attempt())).message).toMatch(host.sentence)
  })
})

describe("within", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.close())

  it.each([undefined, [], {}, { rows: {} }])("refuses an executor that resolves to %o instead of { rows }", async (result) => {
    const executor = { executeSql: async () => result as never }
    expect(await rejected(service.waybill.within(executor).events.publish(carrier, [event("e", "e")]))).toMatchObject({
      status: 500,
      message: "executeSql resolved to no rows. Resolve to { rows }, a list of objects."
    })
  })

  it.each([undefined, null, 1, "tx", {}, [], () => {}, { query: {} }, { query: () => [] }, { executeSql: "SELECT 1" }])("refuses %o with a message", (value) => {
    expect(() => service.waybill.within(value as never)).toThrow(
      /^within\(tx\) takes a pg client that has sent BEGIN, \{ executeSql \}, or the result of fromDrizzle, /
    )
  })
})
