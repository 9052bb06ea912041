/** A rule of the interfaces: one sentence, where it is written, what its check needs, and the check. */
import type { Inbox, Post } from "./Callback.ts"
import type { CallOptions, Exchange } from "./ApiCaller.ts"
import type { Fixtures } from "./Fixtures.ts"

/** The letters of the five areas. */
export const areas = ["a", "b", "c", "d", "e"] as const

/** An area by its letter. */
export type Area = typeof areas[number]

/** The areas by their letters. */
export const areaNames: Readonly<Record<Area, string>> = {
  a: "Shipment status",
  b: "Invoices and documents",
  c: "Pickups",
  d: "Transit events",
  e: "Freight charges"
}

/** `must`: the interface says so, or one customer's data is another's otherwise. `should`: the published definition, the practice, or the sense of the interface says so. */
type Level = "must" | "should"

/** What a check needs and the implementation cannot be asked for. The texts complete "not checked: needs …". */
export const needs = {
  customer: "clients.customer in the fixtures: the credentials of a customer",
  other: "clients.other in the fixtures: the credentials of a second customer, who must not see the first one's data",
  carrier: "clients.carrier in the fixtures: the credentials of a carrier, who writes invoices",
  secret: "webhook in the fixtures: the id of a signing secret, and the secret",
  shipment: "shipment in the fixtures: a shipment of the customer",
  foreignShipment: "foreignShipment in the fixtures: a shipment that the customer has no access to",
  events: "events in the fixtures: two shipments of the customer with at least three events of at least two types each, and one that it has no access to",
  bills: "bills in the fixtures: an account of the customer with bills in flight, and one without",
  trigger: "a --trigger command, or --intake, that publishes while the check runs",
  receiver: "--receiver-url: the address at which the implementation reaches this machine",
  token: "tokens.customer in the fixtures: a bearer token of the customer, if the implementation takes any",
  expiredToken: "tokens.expired in the fixtures: a bearer token of the customer that has expired",
  hour: "--window-wait of 3600 seconds or more: the end of an hourly window",
  day: "--window-wait of 86400 seconds or more: the end of a daily window"
} as const
export type Need = keyof typeof needs

/** Frequencies of charge notifications that collect what happens until their window ends. */
export type WindowFrequency = "hourly" | "daily"

/** What a check works with. */
export interface RuleContext {
  /** The present ones are those that the rule needs. */
  readonly fixtures: Fixtures
  /** Calls the implementation. Throws `Violation` when there is no answer. */
  readonly call: (area: Area, method: string, path: string, options?: CallOptions) => Promise<Exchange>
  /** A new address for deliveries. */
  readonly inbox: () => Inbox
  /** An address for subscriptions whose deliveries do not matter. */
  readonly endpointUrl: string
  /** Makes the implementation publish in an area. */
  readonly trigger: (area: Area) => Promise<void>
  /** Runs once for all rules of the area that share it, and returns the same result, or throws the same error. */
  readonly once: <A>(name: string, make: () => Promise<A>) => Promise<A>
  /** Runs after all rules of the area. */
  readonly afterwards: (end: () => Promise<unknown>) => void
  /** Timeout for expected deliveries. */
  readonly waitMillis: number
  /** After this time without a delivery, no more are expected. */
  readonly quietMillis: number
  /** How long to wait for the end of a window; `undefined` where that is not wanted. Says so to the user. */
  readonly windowWait: (frequency: WindowFrequency) => number | undefined
}

/** One requirement of the interfaces, with the check that tries it. */
export interface Rule {
  /** Stable; begins with the area's letter. */
  readonly id: string
  readonly area: Area
  readonly level: Level
  /** Completes "An implementation …". */
  readonly sentence: string
  /** Section of the interface, or the published definition. */
  readonly source: string
  readonly needs: ReadonlyArray<Need>
  /** Returns what was seen. Throws `Violation` when the rule is broken. */
  readonly run: (context: RuleContext) => Promise<string>
}

/** A broken rule: what was seen, what is expected, and the call or the delivery that shows it. */
export class Violation extends Error {
  override readonly name = "Violation"
  readonly evidence: Exchange | Post | undefined
  constructor(message: string, evidence?: Exchange | Post) {
    super(message)
    this.evidence = evidence
  }
}

/** What differs from the other rules of the section. */
interface Differences {
  readonly source?: string
  readonly needs?: ReadonlyArray<Need>
}

type RuleOfSection = Pick<Rule, "id" | "level" | "run" | "sentence"> & Differences

interface Declare {
  (id: string, sentence: string, run: Rule["run"]): RuleOfSection
  (id: string, sentence: string, differences: Differences, run: Rule["run"]): RuleOfSection
}

const declare = (level: Level): Declare => (id: string, sentence: string, ...rest: readonly [Rule["run"]] | readonly [Differences, Rule["run"]]): RuleOfSection =>
  rest.length === 1 ? { id, level, sentence, run: rest[0] } : { id, level, sentence, ...rest[0], run: rest[1] }

export const must = declare("must")
export const should = declare("should")

type Look<A> = (made: A, context: RuleContext) => Promise<string> | string

/** For rules that look at what is made for each of them. */
export const making = <A>(make: (context: RuleContext) => Promise<A>) => (look: Look<A>): Rule["run"] => async (context) => look(await make(context), context)

/** For rules that look at one result, which is made once for all of them. */
export const sharing = <A>(name: string, make: (context: RuleContext) => Promise<A>) => making((context) => context.once(name, () => make(context)))

/** Rules of one section of an area, with what their checks need. */
export const rulesOf = (area: Area, source: string, needs: ReadonlyArray<Need>, rules: ReadonlyArray<RuleOfSection>): ReadonlyArray<Rule> =>
  rules.map((rule) => ({ source, needs, ...rule, id: `${area}-${rule.id}`, area }))
