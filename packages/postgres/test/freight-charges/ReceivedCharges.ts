/** Compares the charges that receivers got, and the in-flight lists, with the stored bills and windows. */
import { assert } from "vitest"
import { tagsIn } from "./TaggedCharges.ts"
import type { Acknowledged, Lifetime, Queued, Report } from "./ConcurrentCharges.ts"

interface Version {
  readonly version: number
  readonly accounts: ReadonlyArray<string>
  readonly impact: boolean
  /** The report that made it; unknown for a removal, which has no tagged content. */
  readonly report: string | undefined
}

/** A stored bill with all its versions. */
export class BillHistory {
  readonly bill: string
  readonly state: string
  readonly versions: ReadonlyArray<Version>

  constructor(bill: string, state: string, doc: string) {
    this.bill = bill
    this.state = state
    this.versions = (JSON.parse(doc) as { readonly versions: ReadonlyArray<Version & { readonly change: string; readonly log: unknown }> }).versions
      .map(({ accounts, impact, log, version }) => ({ version, accounts, impact, report: [...tagsIn(JSON.stringify(log))][0] }))
    assert.deepStrictEqual(this.versions.map((each) => each.version), this.versions.map((_, at) => at + 1), bill)
  }

  at(version: number): Version | undefined {
    return this.versions[version - 1]
  }

  /** Whether the bill was in flight while this was its latest version. */
  wasOpen(version: number): boolean {
    return version < this.versions.length || this.state === "open"
  }
}

/** A subscription with its in-flight list and everything that its receiver got. */
export interface ObservedSubscription {
  readonly id: string
  readonly url: string
  readonly live: boolean
  readonly realTime: boolean
  readonly impactsOnly: boolean
  readonly log: boolean
  /** The covered accounts of its client. If the client's accounts change, all that it may ever have had. */
  readonly accounts: ReadonlySet<string>
  readonly hasFixedAccounts: boolean
  readonly lifetime: Lifetime
  readonly inFlight: string
  /** In order of the first attempt. */
  readonly deliveries: ReadonlyArray<ObservedDelivery>
}

interface ObservedDelivery {
  /** A JSON array. */
  readonly body: string
  /** Whether it was cancelled after an attempt, because its client lost access to a part of it: the rest is sent in another delivery, and so may arrive twice. */
  readonly isWithdrawn: boolean
}

interface Pfc {
  readonly pfc: { readonly uniqueID: string; readonly header: { readonly function: string } }
  readonly charges: { readonly changeLog?: unknown; readonly changeLogMessages?: ReadonlyArray<{ readonly informationalMessage: string }> }
}

interface Received {
  readonly bill: string
  readonly version: number
  readonly noLongerDebtor: boolean
  readonly pfc: Pfc
}

const read = (array: string): ReadonlyArray<Received> =>
  (JSON.parse(array) as ReadonlyArray<Pfc>).map((pfc) => ({
    bill: pfc.pfc.uniqueID,
    version: Number(pfc.pfc.header.function.slice(3)),
    noLongerDebtor: pfc.charges.changeLogMessages?.[0]?.informationalMessage === "You are no longer the debtor of this shipment.",
    pfc
  }))

const name = ({ noLongerDebtor, version }: Pick<Received, "version" | "noLongerDebtor">): string => `PFC${version}${noLongerDebtor ? " no longer debtor" : ""}`

const sees = (subscription: ObservedSubscription, version: Version | undefined): boolean => version !== undefined && version.accounts.some((each) => subscription.accounts.has(each))

/** The notifications of a bill for a subscription that existed from the beginning. */
const expected = (subscription: ObservedSubscription, history: BillHistory): ReadonlyArray<Pick<Received, "version" | "noLongerDebtor">> =>
  history.versions.flatMap((each): ReadonlyArray<Pick<Received, "version" | "noLongerDebtor">> => {
    if (sees(subscription, each)) return each.impact || !subscription.impactsOnly ? [{ version: each.version, noLongerDebtor: false }] : []
    return sees(subscription, history.at(each.version - 1)) ? [{ version: each.version, noLongerDebtor: true }] : []
  })

/** Every charge is of a version that the subscription's accounts owe, with content and log entries of such versions only. */
export const assertOnlyOwnCharges = (subscription: ObservedSubscription, histories: ReadonlyMap<string, BillHistory>, reports: ReadonlyMap<string, Report>): void => {
  for (const received of [...read(subscription.inFlight), ...receivedBy(subscription)]) {
    const history = histories.get(received.bill)!
    const version = history.at(received.noLongerDebtor ? received.version - 1 : received.version)!
    const where = `${received.bill} ${name(received)} to ${subscription.url}`
    assert.isTrue(sees(subscription, version), `${where} is of another debtor`)
    const content = reports.get(version.report!)!.content
    const allowed = new Set(content)
    if (!received.noLongerDebtor) {
      for (const each of history.versions.slice(0, received.version)) if (sees(subscription, each) && each.report !== undefined) allowed.add(each.report)
      if (!subscription.log) assert.isUndefined(received.pfc.charges.changeLog, where)
    }
    for (const tag of tagsIn(JSON.stringify(received.pfc))) assert.isTrue(allowed.has(tag), `${tag} in ${where}`)
    const { changeLog: _log, changeLogMessages: _messages, ...charges } = received.pfc.charges
    if (!received.noLongerDebtor) assert.deepStrictEqual(tagsIn(JSON.stringify({ ...received.pfc, charges })), content, where)
  }
}

/** The versions of a bill after which the subscription may have been created, by its in-flight list and the times of the calls. */
const possibleStarts = (subscription: ObservedSubscription, history: BillHistory, acknowledged: ReadonlyArray<Acknowledged>): ReadonlyArray<number> => {
  const before = acknowledged.filter((each) => each.answeredAt < subscription.lifetime.requestedAt).map((each) => each.version)
  const after = acknowledged.filter((each) => each.requestedAt > subscription.lifetime.answeredAt).map((each) => each.version)
  const earliest = Math.max(0, ...before)
  const latest = Math.min(history.versions.length, ...after.map((version) => version - 1))
  const listed = read(subscription.inFlight).filter((each) => each.bill === history.bill)
  assert.isAtMost(listed.length, 1)
  return Array.from({ length: latest - earliest + 1 }, (_, at) => earliest + at)
    .filter((version) => listed.length === 1 ? listed[0]!.version === version : !sees(subscription, history.at(version)) || !history.wasOpen(version))
}

/** Every version after the subscription's start was sent once and in order; those of a cancelled subscription up to its end. */
export const assertEachVersionOnce = (
  subscription: ObservedSubscription,
  histories: ReadonlyMap<string, BillHistory>,
  acknowledged: ReadonlyArray<Acknowledged>,
  notifications: ReadonlyArray<Pick<Received, "bill" | "version" | "noLongerDebtor">>
): void => {
  for (const history of histories.values()) {
    const own = acknowledged.filter((each) => each.bill === history.bill)
    const got = notifications.filter((each) => each.bill === history.bill).map(name)
    const possible = possibleStarts(subscription, history, own).map((from) => expected(subscription, history).filter((each) => each.version > from).map(name))
    const fits = possible.some((all) => (subscription.live ? all.length === got.length : all.length >= got.length) && got.every((each, at) => each === all[at]))
    assert.isTrue(fits, `${history.bill} to ${JSON.stringify({ ...subscription, accounts: [...subscription.accounts], deliveries: [], inFlight: read(subscription.inFlight).map((each) => each.bill + name(each)) })}: got ${got.join()}, expected one of ${possible.map((each) => each.join()).join(" | ")}`)
    for (const each of own.filter((one) => one.requestedAt > subscription.lifetime.cancelledAt)) assert.notInclude(got, `PFC${each.version}`)
  }
}

/**
 * The versions of a bill increase, and begin after the in-flight list. Holds also if the client's accounts change: after a withdrawn delivery they increase
 * from where they were before it, and what is repeated is the same.
 */
export const assertInOrder = (subscription: ObservedSubscription): void => {
  let last = new Map(read(subscription.inFlight).map((each) => [each.bill, each.version]))
  const contents = new Map<string, Pfc>()
  for (const { body, isWithdrawn } of subscription.deliveries) {
    const reached = new Map(last)
    for (const received of read(body)) {
      const { bill, pfc, version } = received
      const ofBill = (array: string) => `[${read(array).filter((each) => each.bill === bill).map(name).join()}]`
      const all = subscription.deliveries.map((each) => `${ofBill(each.body)}${each.isWithdrawn ? " withdrawn" : ""}`).filter((each) => !each.startsWith("[]"))
      const where = `${bill} to ${subscription.url} (${subscription.realTime ? "in real time" : "in windows"}): in flight ${ofBill(subscription.inFlight)}, got ${all.join()}`
      assert.isAbove(version, reached.get(bill) ?? 0, where)
      reached.set(bill, version)
      const content = contents.get(`${bill} ${version}`)
      if (content !== undefined) assert.deepStrictEqual(pfc, content, where)
      contents.set(`${bill} ${version}`, pfc)
    }
    if (!isWithdrawn) last = reached
  }
}

export const receivedBy = (subscription: ObservedSubscription): ReadonlyArray<Received> => subscription.deliveries.flatMap(({ body }) => read(body))

/** A closed window as it is stored. */
export interface Closed {
  readonly closedAt: number
  readonly body: string
}

/** A change that was queued for a window. */
export interface Collected extends Pick<Queued, "window"> {
  readonly bill: string
  readonly version: number
}

/**
 * Each window was sent once, as one array with the latest version of each bill, and each change is in the window that it was queued for.
 * If the client's accounts change, charges that it may no longer see are removed before a window is sent; then every received charge
 * was in a window.
 */
export const assertWindows = (subscription: ObservedSubscription, closed: ReadonlyArray<Closed>, collected: ReadonlyArray<Collected>): void => {
  if (!subscription.hasFixedAccounts) {
    const inWindows = new Set(closed.flatMap((each) => read(`[${each.body}]`)).map((each) => `${each.bill} ${each.version}`))
    for (const { bill, version } of receivedBy(subscription)) assert.isTrue(inWindows.has(`${bill} ${version}`), `${bill} PFC${version} is in no window of ${subscription.url}`)
    return
  }
  const ends = closed.map((each) => each.closedAt)
  assert.deepStrictEqual(ends, [...new Set(ends)], `${subscription.url}: each window closes once`)
  const bodies = subscription.deliveries.map(({ body }) => body)
  if (subscription.live) assert.deepStrictEqual(bodies, closed.map((each) => `[${each.body}]`), subscription.url)
  else assert.deepStrictEqual(bodies, closed.slice(0, bodies.length).map((each) => `[${each.body}]`), subscription.url)
  const arrays = closed.map((each) => ({ end: each.closedAt, received: read(`[${each.body}]`) }))
  for (const { received } of arrays) assert.deepStrictEqual(received.map((each) => each.bill), [...new Set(received.map((each) => each.bill))].toSorted())
  for (const { bill, version, window } of collected) {
    const first = arrays.find(({ received }) => received.some((each) => each.bill === bill && each.version >= version))
    if (first === undefined) assert.isFalse(subscription.live, `${bill} PFC${version} is in no window of ${subscription.url}`)
    else assert.include([window!.closesAt, window!.following], first.end, `${bill} PFC${version} of ${subscription.url}`)
  }
}
