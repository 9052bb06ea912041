import type { Invoice } from "@waybill/core/invoices"
import type { PickupReport } from "@waybill/core/pickups"
import type { PostedShipment, StatusUpdate } from "@waybill/core/shipment-status"
import type { ReportedEvent } from "@waybill/core/transit-events"
import { afterEach, describe, expect, it, vi } from "vitest"
import { freightNetwork, type NetworkCall, type NetworkClients, play } from "../../src/index.ts"
import { startedWaybill } from "../startedWaybill.ts"

afterEach(() => void vi.useRealTimers())

const areas = ["A", "B", "C", "D", "E"]

describe("play, with the service in memory", { timeout: 120_000 }, () => {
  it("makes thousands of calls in every area, with every journey, without a refusal", async () => {
    const waybill = await startedWaybill()
    const network = freightNetwork({ seed: 2026, days: 1, shipmentsPerDay: 130, customers: 8, exceptions: 0.5 })
    const receivers = []
    for (const { accounts, client } of network.customers) {
      const customer = waybill.customer(client, accounts)
      const receiver = waybill.receiver(`https://${client}.example/hook`)
      receivers.push({ accounts, receiver, customer })
      await waybill.subscriptions.create(customer, { endpointUrl: receiver.url, hmacSecretId: waybill.hmacSecretId })
      const dataOptions = { shipmentDataType: "all_monitored_events", eventType: "all_impacts" } as const
      await waybill.chargeSubscriptions.create(customer, { webhookUrl: receiver.url, accounts, dataOptions, hmacSecretId: waybill.hmacSecretId })
    }
    const calls: Array<NetworkCall> = []
    const played = await play(network, waybill, { onCall: (call) => void calls.push(call) })
    expect(played.refused).toBe(0)
    expect(played.calls).toBeGreaterThan(2_300)
    expect(calls.length).toBe(played.calls)
    expect([...new Set(calls.map(({ area }) => area))].toSorted()).toEqual(areas)
    expect(new Set(calls.map(({ journey }) => journey)).size).toBe(9)

    // in order per shipment, and only to clients that may see it
    const told = receivers.flatMap(({ receiver }) => receiver.received.flatMap(({ events }) => events))
    expect(told.length).toBeGreaterThanOrEqual(played.byCall["events.publish"]!)
    for (const { receiver } of receivers) {
      receiver.assertSigned()
      receiver.assertInOrder()
      receiver.assertNoDuplicates()
    }
    const shipments = calls.flatMap((call) => call.call === "shipments.register" && call.name === "booked" ? [call.shipment] : [])
    expect(shipments).toHaveLength(130)
    for (const { accounts, customer } of receivers) {
      const own = shipments.find((shipment) => shipment.accounts?.some((account) => accounts.includes(account)))
      if (own === undefined) continue
      const { shipment } = await waybill.shipments.verified(customer, { kind: "pro", proNumber: own.ProNumber })
      expect(shipment).toMatchObject({ ShipmentMilestoneStatus: "Delivered", PODAvailable: true })
    }
  })

  it("plays the same calls into two services", async () => {
    const received = async () => {
      const waybill = await startedWaybill()
      const receiver = waybill.receiver("https://customer.example/hook")
      const network = freightNetwork({ seed: 11, days: 1, shipmentsPerDay: 4, customers: 1 })
      const { accounts, client } = network.customers[0]!
      await waybill.subscriptions.create(waybill.customer(client, accounts), { endpointUrl: receiver.url, hmacSecretId: waybill.hmacSecretId })
      await play(network, waybill)
      return receiver.received.flatMap(({ events }) => events.map(({ eventId, occurredAt, reportedAt }) => ({ eventId, occurredAt, reportedAt })))
    }
    const [one, other] = [await received(), await received()]
    expect(one.length).toBeGreaterThan(20)
    expect(other).toEqual(one)
  })

  it("stops at its limit, and reports refused calls", async () => {
    const network = freightNetwork({ seed: 12, days: 1, shipmentsPerDay: 3 })
    const early = await startedWaybill()
    expect(await play(network, early, { calls: 7 })).toMatchObject({ calls: 7, refused: 0 })
    await expect(play(network, early, { perSecond: 5 })).rejects.toThrow("perSecond and concurrency are for clients")
    const waybill = await startedWaybill({ now: "2027-01-01T00:00:00Z" })
    // pickups for past days are refused
    await expect(play(network, waybill)).rejects.toMatchObject({ code: "invalid_input" })
    const refused: Array<string> = []
    expect((await play(network, waybill, { onRefused: (_, { name }) => void refused.push(name) })).refused).toBe(refused.length)
    expect(new Set(refused)).toEqual(new Set(["pickup ordered", "driver on the way", "driver arrived", "driver departed"]))
  })
})

/** Clients that accept every call, each one turn of the event loop later. */
const lateClients = (saw: (call: string) => void) => {
  let [underWay, most] = [0, 0]
  const taken = async <A>(what: string, answer: A): Promise<A> => {
    underWay += 1
    most = Math.max(most, underWay)
    await new Promise((resolve) => setImmediate(resolve))
    underWay -= 1
    saw(what)
    return answer
  }
  const carrier: ReturnType<NetworkClients["carrier"]> = {
    intake: {
      registerShipments: ([shipment]: ReadonlyArray<PostedShipment>) => taken(`${shipment!.shipmentId} register`, undefined),
      reportStatus: ([update]: ReadonlyArray<StatusUpdate>) => taken(`${update!.shipmentId} report`, undefined),
      publishTransitEvents: ([event]: ReadonlyArray<ReportedEvent>) => taken(event!.eventId!.replace("/", " "), undefined),
      publishFreightCharges: () => taken("charge", undefined),
      reportPickupStatus: (number: string, { status }: PickupReport) => taken(`${number} ${status}`, undefined)
    },
    invoices: { create: ({ shipmentID }: Invoice) => taken(`${shipmentID} invoice`, undefined) },
    documents: { upload: () => taken("papers", undefined) }
  }
  let orders = 0
  const customer = () => ({ pickups: { create: ({ isTest }: { readonly isTest: unknown }) => taken(`order ${String(isTest)}`, [{ carrierPickupNumber: `P-${++orders}` }]) } })
  return { clients: { carrier: () => carrier, customer }, most: () => most }
}

describe("play, with clients", () => {
  const network = freightNetwork({ seed: 13, days: 1, shipmentsPerDay: 40 })

  it("makes concurrent calls, and those of one shipment one after the other", async () => {
    const seen: Array<string> = []
    const { clients, most } = lateClients((what) => void seen.push(what))
    const played = await play(network, clients, { concurrency: 5 })
    const all = Array.from(network)
    expect(played.calls).toBe(all.length)
    expect(most()).toBe(5)
    for (const call of all) {
      if (call.name !== "picked up") continue
      const own = seen.filter((what) => what.startsWith(`${call.shipmentId} `)).map((what) => what.slice(call.shipmentId.length + 1))
      const expected = all.flatMap((each) => each.shipmentId === call.shipmentId && each.call === "events.publish" ? [each.name] : [])
      expect(own.filter((name) => expected.includes(name))).toEqual(expected)
    }
    expect(seen.filter((what) => what.startsWith("order "))).toEqual(Array.from({ length: 40 }, () => "order false"))
    expect(seen.filter((what) => what.startsWith("P-1 "))).toEqual(["P-1 En Route", "P-1 Arrived", "P-1 Departed with Exact Match"])
  })

  it("keeps the given rate until it is aborted", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })
    const { clients } = lateClients(() => {})
    const told: Array<string> = []
    const end = new AbortController()
    const playing = play(network, clients, { perSecond: 2, signal: end.signal, onCall: ({ name }) => void told.push(name) })
    const turns = async () => {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    await turns()
    expect(told).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(499)
    await turns()
    expect(told).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    await turns()
    expect(told).toHaveLength(2)
    end.abort()
    expect(await playing).toMatchObject({ calls: 2, refused: 0 })
  })

  it("stops at the first refusal, and throws it", async () => {
    const { clients } = lateClients(() => {})
    const broken = { ...clients, customer: () => ({ pickups: { create: () => Promise.reject(new Error("no trucks today")) } }) }
    await expect(play(network, broken)).rejects.toThrow("no trucks today")
    await expect(play(network, clients, { perSecond: 0 })).rejects.toThrow("perSecond")
    await expect(play(network, clients, { concurrency: 0 })).rejects.toThrow("concurrency")
  })
})
