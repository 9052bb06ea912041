import { describe, expect, it } from "vitest"
import { type PickupOrder, type PickupRequest, PickupsClient } from "../../src/pickups/index.ts"
import { fullOrder, leastOrder, pickupAnswer, pickupVisibility } from "../pickup-samples.ts"
import { clientsOf, json, problem } from "../scripted-server.ts"

const clientOf = clientsOf(PickupsClient)
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => "it did not fail", (error: unknown) => error)
const keysOf = (received: ReadonlyArray<{ readonly headers: Headers }>) => received.map(({ headers }) => headers.get("idempotency-key"))

describe("PickupsClient", () => {
  it("orders a pickup in the spelling of the interface", async () => {
    const { client, received } = clientOf(() => json([pickupAnswer]))
    const [answer] = await client.create(fullOrder)
    expect(answer).toEqual(pickupAnswer)
    expect(received).toEqual([expect.objectContaining({
      method: "POST",
      path: "/pickup/v1/pickups",
      body: { ...fullOrder, isTest: "False", requestFunction: "NewPickup", carrierPickupNumber: null }
    })])
    await client.create({ ...leastOrder, isTest: true })
    expect(received[1]!.body).toMatchObject({ isTest: "True" })
  })

  it("sends a stored request again", async () => {
    const { client, received } = clientOf(() => json([pickupAnswer]))
    const stored: PickupRequest = { ...fullOrder, isTest: "False", requestFunction: "NewPickup", carrierPickupNumber: null }
    await client.update("1000", { ...stored, handlingUnitCount: 4 })
    expect(received[0]!.body).toMatchObject({ isTest: "False", requestFunction: "ModifyExisting", carrierPickupNumber: "1000", handlingUnitCount: 4 })
  })

  it("never turns an order into a test, or a missing value into an order", async () => {
    const { client, received } = clientOf(() => json([pickupAnswer]))
    for (const isTest of ["False", "false", undefined]) await client.create({ ...leastOrder, isTest } as unknown as PickupOrder)
    expect(received.map(({ body }) => (body as { readonly isTest?: unknown }).isTest)).toEqual(["False", "false", undefined])
  })

  it("sends null for absent members, as the interface requires", async () => {
    const { client, received } = clientOf(() => json([pickupAnswer]))
    await client.create({ ...leastOrder, customer: undefined } as unknown as PickupOrder)
    expect(received[0]!.body).toMatchObject({
      customer: null, emergencyContact: null, cubicFeet: null, linearFeet: 4, readyDate: null, shipmentDetails: null, destinationAddress: null, billToAddress: null
    })
    const members = Object.keys(fullOrder).filter((name) => name !== "warehouseName" && name !== "openDate" && name !== "openTime")
    expect(Object.keys(received[0]!.body as object).toSorted()).toEqual([...members, "requestFunction", "carrierPickupNumber"].toSorted())
  })

  it("ignores members that only the client may set", async () => {
    const { client, received } = clientOf(() => json([pickupAnswer]))
    const order = { ...leastOrder, requestFunction: "ModifyExisting", carrierPickupNumber: "7" }
    await client.create(order)
    await client.update("8", order)
    expect(received.map(({ body }) => body)).toMatchObject([
      { requestFunction: "NewPickup", carrierPickupNumber: null }, { requestFunction: "ModifyExisting", carrierPickupNumber: "8" }
    ])
  })

  describe("orders one truck", () => {
    it("with a generated key, the same for every attempt and another for every call", async () => {
      const { client, received } = clientOf((_, count) => count % 3 < 2 ? problem(503) : json([pickupAnswer]))
      await client.create(leastOrder)
      await client.create(leastOrder)
      const keys = keysOf(received)
      expect(keys).toHaveLength(6)
      for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
      expect([new Set(keys.slice(0, 3)).size, new Set(keys.slice(3)).size, new Set(keys).size]).toEqual([1, 1, 2])
    })

    it("with the given key", async () => {
      const { client, received } = clientOf((_, count) => count === 0 ? Promise.reject(new TypeError("fetch failed")) : json([pickupAnswer]))
      await client.create(leastOrder, { idempotencyKey: "order 4711/1" })
      expect(keysOf(received)).toEqual(["order 4711/1", "order 4711/1"])
    })

    it("and reports the key in the error, so that the same order can be sent again", async () => {
      const { client, received } = clientOf(() => Promise.reject(new TypeError("fetch failed")))
      const lost = await failure(client.create(leastOrder)) as { readonly call: { readonly idempotencyKey: string } }
      expect(lost).toMatchObject({ name: "WaybillCallFailed", reason: "network", call: { idempotencyKey: keysOf(received)[0] } })
      const desk = clientOf(() => json({ message: "The desk could not decide." }, 503))
      expect(await failure(desk.client.create(leastOrder, { idempotencyKey: "k-1" }))).toMatchObject({ status: 503, call: { idempotencyKey: "k-1" } })
    })

    it.each(["", " a", "a ", "a\nb", "é", "x".repeat(201)])("and refuses a key that a header cannot carry: %j", async (idempotencyKey) => {
      const { client, received } = clientOf(() => json([pickupAnswer]))
      await expect(client.create(leastOrder, { idempotencyKey })).rejects.toThrow(TypeError)
      expect(received).toEqual([])
    })
  })

  it("updates one as a whole, by its number", async () => {
    const { client, received } = clientOf(() => json([{ ...pickupAnswer, pickupStatus: "Call us", carrierPickupNumber: null }]))
    expect((await client.update("1000/01", fullOrder))[0].pickupStatus).toBe("Call us")
    expect(received).toEqual([expect.objectContaining({
      method: "PUT",
      path: "/pickup/v1/pickups/1000%2F01",
      body: { ...fullOrder, isTest: "False", requestFunction: "ModifyExisting", carrierPickupNumber: "1000/01" }
    })])
    expect(keysOf(received)).toEqual([null])
  })

  it("never retries an update", async () => {
    const { client, received } = clientOf(() => problem(503))
    await failure(client.update("1", leastOrder))
    expect(received).toHaveLength(1)
  })

  it("retries a cancellation after a lost response, and never treats 404 as success: a truck may come", async () => {
    const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : new Response(null, { status: 200 }))
    expect(await client.cancel("100000001")).toBeUndefined()
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual(Array.from({ length: 2 }, () => "DELETE /pickup/v1/pickups/100000001"))
    const unknown = clientOf((_, count) => count === 0 ? problem(503) : new Response(null, { status: 404 }))
    expect(await failure(unknown.client.cancel("1"))).toMatchObject({ name: "WaybillProblem", status: 404 })
  })

  it("looks one up by its number or a PRO, among real ones or tests", async () => {
    const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json(pickupVisibility))
    expect(await client.visibility({ confirmationId: "0100 1" })).toEqual(pickupVisibility)
    await client.visibility({ proNumber: "041-8367745" })
    await client.visibility({ confirmationId: "999900000001" }, { isTest: true })
    expect(received.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /pickup/v1/pickups?lookupValue=0100+1&lookupType=PickupConfirmationID&requestType=PickupStatus&isTest=false",
      "GET /pickup/v1/pickups?lookupValue=041-8367745&lookupType=PRO&requestType=PickupStatus&isTest=false",
      "GET /pickup/v1/pickups?lookupValue=999900000001&lookupType=PickupConfirmationID&requestType=PickupStatus&isTest=true"
    ])
    expect(new Set(received.map(({ headers }) => headers.get("x-waybill-integers")))).toEqual(new Set(["false"]))
  })

  it("fails with the message of an error, and with none when the body is empty", async () => {
    const message = "readyTime: The pickup window is over already."
    expect(await failure(clientOf(() => json({ message }, 400)).client.create(leastOrder))).toMatchObject({ name: "WaybillProblem", status: 400, detail: message, code: "", codes: [] })
    const notFound = clientOf(() => new Response(null, { status: 404 }))
    expect(await failure(notFound.client.visibility({ proNumber: "1" }))).toMatchObject({
      name: "WaybillProblem", status: 404, title: "HTTP 404", detail: undefined, body: ""
    })
  })

  it("refuses any other response", async () => {
    const odd = (body: unknown) => clientOf(() => json(body)).client
    const calls = [
      ...[[], {}, [1], [{}], [pickupAnswer, null]].map((body) => odd(body).create(leastOrder)), odd(pickupAnswer).update("1", leastOrder),
      ...[[], {}, null, [pickupVisibility]].map((body) => odd(body).visibility({ proNumber: "1" }))
    ]
    for (const call of calls) expect(await failure(call)).toMatchObject({ name: "WaybillCallFailed", reason: "unreadable_answer" })
  })

  it.each(["", ".", ".."])("refuses %j as a number", async (number) => {
    const { client, received } = clientOf(() => json([pickupAnswer]))
    for (const call of [client.update(number, leastOrder), client.cancel(number)]) await expect(call).rejects.toThrow(TypeError)
    expect(received).toEqual([])
  })

  it("aborts every call with the caller's signal", async () => {
    const { client, received } = clientOf(() => json([pickupAnswer]))
    const signal = AbortSignal.abort(new Error("over"))
    const calls = [client.create(leastOrder, { signal }), client.update("1", leastOrder, { signal }), client.cancel("1", { signal }), client.visibility({ proNumber: "1" }, { signal })]
    for (const call of calls) await expect(call).rejects.toThrow("over")
    expect(received).toEqual([])
  })
})
