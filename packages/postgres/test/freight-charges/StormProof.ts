/** Judges what a storm left behind: what every receiver got, what every list of what was in flight shows, what is stored. */
import { assert } from "vitest"
import { marksIn } from "./MarkedCharges.ts"
import type { Acknowledged, Queued, Report, Span } from "./Storm.ts"

interface Version {
  readonly version: number
  readonly accounts: ReadonlyArray<string>
  readonly impact: boolean
  /** The report it comes from; a removal says nothing that could tell. */
  readonly report: string | undefined
}

/** A bill as it is stored in the end. */
export class Life {
  readonly bill: string
  readonly state: string
  readonly versions: ReadonlyArray<Version>

  constructor(bill: string, state: string, doc: string) {
    this.bill = bill
    this.state = state
    this.versions = (JSON.parse(doc) as { readonly versions: ReadonlyArray<Version & { readonly change: string; readonly log: unknown }> }).versions
      .map(({ accounts, impact, log, version }) => ({ version, accounts, impact, report: [...marksIn(JSON.stringify(log))][0] }))
    assert.deepStrictEqual(this.versions.map((each) => each.version), this.versions.map((_, at) => at + 1), bill)
  }

  at(version: number): Version | undefined {
    return this.versions[version - 1]
  }

  /** Whether the bill was in flight as long as this version counted. */
  wasOpen(version: number): boolean {
    return version < this.versions.length || this.state === "open"
  }
}

export interface Wish {
  readonly id: string
  readonly url: string
  readonly live: boolean
  readonly realTime: boolean
  readonly impactsOnly: boolean
  readonly log: boolean
  /** What its client has of what it covers; where that changes, what it may ever have had. */
  readonly accounts: ReadonlySet<string>
  readonly settled: boolean
  readonly span: Span
  readonly inFlight: string
  /** One array each, in the order in which they came first, repeats left out. */
  readonly bodies: ReadonlyArray<string>
}

interface Pfc {
  readonly pfc: { readonly uniqueID: string; readonly header: { readonly function: string } }
  readonly charges: { readonly changeLog?: unknown; readonly changeLogMessages?: ReadonlyArray<{ readonly informationalMessage: string }> }
}

interface Seen {
  readonly bill: string
  readonly version: number
  readonly gone: boolean
  readonly pfc: Pfc
}

const read = (array: string): ReadonlyArray<Seen> =>
  (JSON.parse(array) as ReadonlyArray<Pfc>).map((pfc) => ({
    bill: pfc.pfc.uniqueID,
    version: Number(pfc.pfc.header.function.slice(3)),
    gone: pfc.charges.changeLogMessages?.[0]?.informationalMessage === "You are no longer the debtor of this shipment.",
    pfc
  }))

const name = ({ gone, version }: Pick<Seen, "version" | "gone">): string => `PFC${version}${gone ? " gone" : ""}`

const sees = (wish: Wish, version: Version | undefined): boolean => version !== undefined && version.accounts.some((each) => wish.accounts.has(each))

/** What a subscription that existed all the time would have been told. */
const owed = (wish: Wish, life: Life): ReadonlyArray<Pick<Seen, "version" | "gone">> =>
  life.versions.flatMap((each): ReadonlyArray<Pick<Seen, "version" | "gone">> => {
    if (sees(wish, each)) return each.impact || !wish.impactsOnly ? [{ version: each.version, gone: false }] : []
    return sees(wish, life.at(each.version - 1)) ? [{ version: each.version, gone: true }] : []
  })

/** Nothing is shown that its accounts do not owe: of no other version, of nobody else, no log of others' times. */
export const proveNothingForeign = (wish: Wish, lives: ReadonlyMap<string, Life>, reports: ReadonlyMap<string, Report>): void => {
  for (const seen of [...read(wish.inFlight), ...wish.bodies.flatMap(read)]) {
    const life = lives.get(seen.bill)!
    const told = life.at(seen.gone ? seen.version - 1 : seen.version)!
    const where = `${seen.bill} ${name(seen)} to ${wish.url}`
    assert.isTrue(sees(wish, told), `${where} is of another debtor`)
    const content = reports.get(told.report!)!.content
    const may = new Set(content)
    if (!seen.gone) {
      for (const each of life.versions.slice(0, seen.version)) if (sees(wish, each) && each.report !== undefined) may.add(each.report)
      if (!wish.log) assert.isUndefined(seen.pfc.charges.changeLog, where)
    }
    for (const mark of marksIn(JSON.stringify(seen.pfc))) assert.isTrue(may.has(mark), `${mark} in ${where}`)
    const { changeLog: _log, changeLogMessages: _messages, ...charges } = seen.pfc.charges
    if (!seen.gone) assert.deepStrictEqual(marksIn(JSON.stringify({ ...seen.pfc, charges })), content, where)
  }
}

/** The moments of a bill's life at which the subscription can have been made, as its list of what was in flight has it. */
const beginnings = (wish: Wish, life: Life, acknowledged: ReadonlyArray<Acknowledged>): ReadonlyArray<number> => {
  const before = acknowledged.filter((each) => each.answered < wish.span.asked).map((each) => each.version)
  const after = acknowledged.filter((each) => each.asked > wish.span.answered).map((each) => each.version)
  const earliest = Math.max(0, ...before)
  const latest = Math.min(life.versions.length, ...after.map((version) => version - 1))
  const listed = read(wish.inFlight).filter((each) => each.bill === life.bill)
  assert.isAtMost(listed.length, 1)
  return Array.from({ length: latest - earliest + 1 }, (_, at) => earliest + at)
    .filter((version) => listed.length === 1 ? listed[0]!.version === version : !sees(wish, life.at(version)) || !life.wasOpen(version))
}

/** Every version after some beginning was told once and in order; those of a cancelled subscription up to some end. */
export const proveNoGapNoDouble = (
  wish: Wish,
  lives: ReadonlyMap<string, Life>,
  acknowledged: ReadonlyArray<Acknowledged>,
  told: ReadonlyArray<Pick<Seen, "bill" | "version" | "gone">>
): void => {
  for (const life of lives.values()) {
    const own = acknowledged.filter((each) => each.bill === life.bill)
    const got = told.filter((each) => each.bill === life.bill).map(name)
    const possible = beginnings(wish, life, own).map((from) => owed(wish, life).filter((each) => each.version > from).map(name))
    const fits = possible.some((all) => (wish.live ? all.length === got.length : all.length >= got.length) && got.every((each, at) => each === all[at]))
    assert.isTrue(fits, `${life.bill} to ${JSON.stringify({ ...wish, accounts: [...wish.accounts], bodies: [], inFlight: read(wish.inFlight).map((each) => each.bill + name(each)) })}: got ${got.join()}, owed one of ${possible.map((each) => each.join()).join(" | ")}`)
    for (const each of own.filter((one) => one.asked > wish.span.cancelled)) assert.notInclude(got, `PFC${each.version}`)
  }
}

/** Where what was told changes with what its client has: still once, in order, and nothing that is listed already. */
export const proveInOrder = (wish: Wish): void => {
  const last = new Map(read(wish.inFlight).map((each) => [each.bill, each.version]))
  for (const { bill, version } of wish.bodies.flatMap(read)) {
    assert.isAbove(version, last.get(bill) ?? 0, `${bill} to ${wish.url}`)
    last.set(bill, version)
  }
}

export const seenBy = (wish: Wish): ReadonlyArray<Seen> => wish.bodies.flatMap(read)

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
 * Each window went out once, as an array of its own, with the latest of each bill; each change is in one window, that it was told of in.
 * Where the accounts of a client change, what it may no longer see leaves its windows before they go out: all that came was in one.
 */
export const proveWindows = (wish: Wish, closed: ReadonlyArray<Closed>, collected: ReadonlyArray<Collected>): void => {
  if (!wish.settled) {
    const inWindows = new Set(closed.flatMap((each) => read(`[${each.body}]`)).map((each) => `${each.bill} ${each.version}`))
    for (const { bill, version } of seenBy(wish)) assert.isTrue(inWindows.has(`${bill} ${version}`), `${bill} PFC${version} is in no window of ${wish.url}`)
    return
  }
  const ends = closed.map((each) => each.closedAt)
  assert.deepStrictEqual(ends, [...new Set(ends)], `${wish.url}: each window closes once`)
  if (wish.live) assert.deepStrictEqual(wish.bodies, closed.map((each) => `[${each.body}]`), wish.url)
  else assert.deepStrictEqual(wish.bodies, closed.slice(0, wish.bodies.length).map((each) => `[${each.body}]`), wish.url)
  const arrays = closed.map((each) => ({ end: each.closedAt, seen: read(`[${each.body}]`) }))
  for (const { seen } of arrays) assert.deepStrictEqual(seen.map((each) => each.bill), [...new Set(seen.map((each) => each.bill))].toSorted())
  for (const { bill, version, window } of collected) {
    const first = arrays.find(({ seen }) => seen.some((each) => each.bill === bill && each.version >= version))
    if (first === undefined) assert.isFalse(wish.live, `${bill} PFC${version} is in no window of ${wish.url}`)
    else assert.include([window!.closesAt, window!.following], first.end, `${bill} PFC${version} of ${wish.url}`)
  }
}
