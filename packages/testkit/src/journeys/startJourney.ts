/** Runs a journey, step by step or up to a named step. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import type { HostPrincipal, Waybill } from "@waybill/http"
import { type Freight, momentOf } from "./Freight.ts"
import { type JourneyName, journeySteps } from "./Journeys.ts"
import type { JourneyStep } from "./JourneyStep.ts"
import { type CalledService, makeCall, PickupNumbers } from "./makeCall.ts"

/** The parts of the service that a journey needs. */
interface JourneyService extends CalledService, Pick<Waybill, "statusSubscriptions" | "subscriptions" | "chargeSubscriptions"> {
  readonly carrier: HostPrincipal
  readonly shipper: HostPrincipal
  readonly hmacSecretId: string
  readonly now: () => Date
  readonly advanceTo: (moment: string) => Promise<void>
}

/** Numbers and accounts of a journey. */
export interface StartJourneyOptions {
  /** `S-1` for the first journey of a service, then the next free one. */
  readonly shipmentId?: string
  /** `0418367745` for the first journey, then the next free one. */
  readonly proNumber?: string
  /** The account of the shipper, which pays; `A-1` by default. */
  readonly account?: string
  /** The new debtor, if the bill changes its debtor; `B-2` by default. */
  readonly nextAccount?: string
  /** When the freight is loaded; 26 hours from now by default. */
  readonly pickedUpAt?: Date | string
}

/** Addresses of receivers, for each area with notifications. */
export interface JourneyFollowers {
  /** Area A. */
  readonly status?: string
  /** Area D. */
  readonly events?: string
  /** Area E. */
  readonly charges?: string
}

/** A shipment that moves on when the test says so. */
export interface Journey {
  readonly name: JourneyName
  readonly freight: Freight
  /** All steps in order, done or not. */
  readonly steps: ReadonlyArray<JourneyStep>
  /** Names of the completed steps. */
  readonly done: ReadonlyArray<string>
  /** Subscribes a caller, by default the shipper, to this freight, signed. Charges are those of its accounts. */
  readonly subscribe: (followers: JourneyFollowers, caller?: HostPrincipal) => Promise<void>
  /** Advances the clock to the next step and runs it. Returns the step, or `undefined` at the end. */
  readonly step: () => Promise<JourneyStep | undefined>
  /** Runs every step up to and including the named one. Does nothing if that step is already done. */
  readonly advanceTo: (step: string) => Promise<void>
  /** Runs all remaining steps. */
  readonly finish: () => Promise<void>
}

const { any, text } = optionKinds

/** Throws a `TypeError` for options that a journey does not have. */
export const checkJourney = (options: StartJourneyOptions): void =>
  checkOptions("journey", options, { shipmentId: text, proNumber: text, account: text, nextAccount: text, pickedUpAt: any } satisfies OptionKinds<StartJourneyOptions>)

const defaultLeadMillis = 26 * 3_600_000

export type NumberedJourney = StartJourneyOptions & Required<Pick<StartJourneyOptions, "shipmentId" | "proNumber">>

export const startJourney = (service: JourneyService, name: JourneyName, options: NumberedJourney): Journey => {
  const { account = "A-1", nextAccount = "B-2", pickedUpAt = service.now().getTime() + defaultLeadMillis, proNumber, shipmentId } = options
  const loadedAt = new Date(pickedUpAt).getTime()
  if (Number.isNaN(loadedAt)) throw new RangeError(`pickedUpAt is ${JSON.stringify(pickedUpAt)}. Give a Date, or RFC 3339 such as 2026-11-21T16:00:00Z.`)
  const freight: Freight = { account, nextAccount, pickedUpAt: loadedAt, proNumber, shipmentId }
  const steps = journeySteps(name, freight)
  const done: Array<string> = []
  const shipper = { ...service.shipper, accounts: [account] }
  const numbers = new PickupNumbers()

  const step = async () => {
    const next = steps[done.length]
    if (next === undefined) return undefined
    // before the call, so that a failed step is not run again as the next one
    done.push(next.name)
    const moment = momentOf(freight, next.afterHours)
    // another journey on the same clock may be further
    if (new Date(moment) > service.now()) await service.advanceTo(moment)
    await makeCall(service, next.call === "pickups.create" ? shipper : service.carrier, shipmentId, next, numbers)
    return next
  }

  const stepsUpTo = async (count: number) => {
    while (done.length < count) await step()
  }

  return {
    name,
    freight,
    steps,
    done,
    subscribe: (followers, caller = shipper) => subscribe(service, freight, followers, caller),
    step,
    advanceTo: async (wanted) => {
      const at = steps.findIndex((each) => each.name === wanted)
      if (at < 0) throw new RangeError(`The journey ${name} has no step ${JSON.stringify(wanted)}. Take one of: ${steps.map((each) => each.name).join(", ")}.`)
      await stepsUpTo(at + 1)
    },
    finish: () => stepsUpTo(steps.length)
  }
}

const subscribe = async (service: JourneyService, { proNumber, shipmentId }: Freight, followers: JourneyFollowers, caller: HostPrincipal): Promise<void> => {
  checkOptions("subscribe", followers, { status: text, events: text, charges: text } satisfies OptionKinds<JourneyFollowers>)
  const { charges, events, status } = followers
  const { hmacSecretId } = service
  if (status !== undefined) await service.statusSubscriptions.subscribe(caller, { webhookUrl: status, referenceNumbers: [proNumber], hmacSecretId })
  if (events !== undefined) await service.subscriptions.create(caller, { endpointUrl: events, hmacSecretId, filters: { shipmentIds: [shipmentId] } })
  if (charges !== undefined) {
    const dataOptions = { shipmentDataType: "all_monitored_events", eventType: "all_impacts" } as const
    await service.chargeSubscriptions.create(caller, { webhookUrl: charges, accounts: caller.accounts ?? [], dataOptions, hmacSecretId })
  }
}
