/** What dispatchers do. Each action writes the TMS's tables and publishes in one transaction. */
import { and, count, eq, isNull } from "drizzle-orm"
import { accounts, charges, type Charge, drivers, shipments, type Status, type Stop, stops } from "../database/schema.ts"
import type { Transaction } from "../database/connect.ts"
import { billOf, eventOf, type Freight, registrationOf } from "../freight/messages.ts"
import { tmsPrincipal } from "../freight/principals.ts"
import type { Transact } from "../freight/transact.ts"
import { chargesOf, findShipment } from "./shipments.ts"

/** The action is not possible; the message is for the user. */
export class Refused extends Error {
  override readonly name = "Refused"
  readonly status: 403 | 404 | 409

  constructor(message: string, status: 403 | 404 | 409 = 409) {
    super(message)
    this.status = status
  }
}

/** Each step of a shipment: from which status to which, and the message to customers. */
export const steps = {
  "pick-up": { label: "Picked up", from: "dispatched", to: "picked up", event: "PICKED_UP", at: "pickup" },
  depart: { label: "Departed", from: "picked up", to: "in transit", event: "DEPARTED_TERMINAL", at: undefined },
  "go-out": { label: "Out for delivery", from: "in transit", to: "out for delivery", event: "OUT_FOR_DELIVERY", at: undefined },
  deliver: { label: "Delivered", from: "out for delivery", to: "delivered", event: "DELIVERED", at: "delivery" }
} as const
export type Step = keyof typeof steps

export const stepFrom = (status: Status): Step | undefined => (Object.keys(steps) as Array<Step>).find((step) => steps[step].from === status)

export interface Booking extends Pick<typeof shipments.$inferSelect, "account" | "bolNumber" | "description" | "freightClass" | "pallets" | "pounds" | "heightInches"> {
  readonly pickup: Omit<Stop, "shipment" | "kind" | "doneAt">
  readonly delivery: Omit<Stop, "shipment" | "kind" | "doneAt">
}

const existing = async (tx: Transaction, number: number): Promise<Freight> => {
  const found = await findShipment(tx, number, "all")
  if (found === undefined) throw new Refused(`There is no shipment ${number}.`, 404)
  return found
}

/** Of two dispatchers who act at the same time, the second waits here, and is refused. */
const move = async (tx: Transaction, number: number, { from, to }: { readonly from: Status; readonly to: Status }, also: { readonly driverId?: number } = {}): Promise<Freight> => {
  const moved = await tx.update(shipments).set({ status: to, ...also }).where(and(eq(shipments.number, number), eq(shipments.status, from))).returning({ number: shipments.number })
  const freight = await existing(tx, number)
  if (moved.length === 0) throw new Refused(`Shipment ${number} is ${freight.shipment.status}. It must be ${from} to become ${to}.`)
  return freight
}

/** What dispatchers can do, with the time of the action. */
export class Dispatch {
  readonly #transact: Transact

  constructor(transact: Transact) {
    this.#transact = transact
  }

  /** @returns the shipment's number */
  book({ delivery, pickup, ...booking }: Booking, at: Date): Promise<number> {
    return this.#transact(async (tx, freight) => {
      const [known] = await tx.select().from(accounts).where(eq(accounts.number, booking.account))
      if (known === undefined) throw new Refused(`There is no account ${booking.account}.`, 404)
      const [booked] = await tx.insert(shipments).values({ ...booking, bookedAt: at }).returning()
      const number = booked!.number
      await tx.insert(stops).values([{ ...pickup, shipment: number, kind: "pickup" }, { ...delivery, shipment: number, kind: "delivery" }])
      await freight.shipments.register(tmsPrincipal, [registrationOf(await existing(tx, number))])
      return number
    })
  }

  assign(number: number, driverId: number, at: Date): Promise<void> {
    return this.#transact(async (tx, freight) => {
      const [driver] = await tx.select().from(drivers).where(eq(drivers.id, driverId))
      if (driver === undefined) throw new Refused("There is no such driver.", 404)
      const moved = await move(tx, number, { from: "booked", to: "dispatched" }, { driverId })
      await freight.events.publish(tmsPrincipal, [eventOf(moved, { type: "PICKUP_SCHEDULED", at, stop: moved.pickup })])
    })
  }

  take(number: number, step: Step, at: Date): Promise<void> {
    return this.#transact(async (tx, freight) => {
      const { at: kind, event } = steps[step]
      const moved = await move(tx, number, steps[step])
      if (kind !== undefined) await tx.update(stops).set({ doneAt: at }).where(and(eq(stops.shipment, number), eq(stops.kind, kind)))
      await freight.events.publish(tmsPrincipal, [eventOf(moved, { type: event, at, ...(kind === undefined ? {} : { stop: moved[kind] }) })])
    })
  }

  reportDelay(number: number, notes: string, at: Date): Promise<void> {
    return this.#transact(async (tx, freight) => {
      const found = await existing(tx, number)
      if (found.shipment.status === "delivered") throw new Refused(`Shipment ${number} is delivered.`)
      await freight.events.publish(tmsPrincipal, [eventOf(found, { type: "DELAY", at, notes })])
    })
  }

  addCharge(number: number, charge: Pick<Charge, "kind" | "cents">, at: Date): Promise<void> {
    return this.#transact(async (tx, freight) => {
      await openBill(tx, number)
      const [{ before } = { before: 0 }] = await tx.select({ before: count() }).from(charges).where(eq(charges.shipment, number))
      if (before >= maxCharges) throw new Refused(`A shipment has at most ${maxCharges} charges.`)
      await tx.insert(charges).values({ ...charge, shipment: number, enteredAt: at })
      const bill = billOf(await existing(tx, number), await chargesOf(tx, number), before === 0 ? "created" : "updated", at)
      await freight.freightCharges.publish(tmsPrincipal, [bill])
    })
  }

  closeBill(number: number, at: Date): Promise<void> {
    return this.#transact(async (tx, freight) => {
      await openBill(tx, number)
      const entered = await chargesOf(tx, number)
      if (entered.length === 0) throw new Refused(`Shipment ${number} has no charges.`)
      await tx.update(shipments).set({ billedAt: at }).where(eq(shipments.number, number))
      await freight.freightCharges.publish(tmsPrincipal, [billOf(await existing(tx, number), entered, "final", at)])
    })
  }
}

const maxCharges = 50

/** Locks the shipment, so that the bill has every charge of those who act at the same time. */
const openBill = async (tx: Transaction, number: number): Promise<void> => {
  const [open] = await tx.select({ number: shipments.number }).from(shipments).where(and(eq(shipments.number, number), isNull(shipments.billedAt))).for("update")
  if (open !== undefined) return
  await existing(tx, number)
  throw new Refused(`The bill of shipment ${number} is closed.`)
}
