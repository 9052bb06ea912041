/**
 * Every call of every contract, by every kind of caller, about their own data, another client's, another tenant's, and
 * data that does not exist.
 */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type Answer, operatorKey, type TestServiceOptions } from "../TestService.ts"
import { expectedOf, isItsClient, type Rule, ruledIds, rulesOf, seesFreight, seesPapers, type Target } from "./AccessRules.ts"
import type { Caller } from "./Callers.ts"
import { type Call, callOf, targetOf } from "./Calls.ts"
import { type IdentityProvider, startIdentityProvider } from "./IdentityProvider.ts"
import { type Operation, operationOf, operations } from "./Operations.ts"
import type { Subject } from "./Subject.ts"
import { nothing, send, startFixture, subjectNames, wordOf, type Fixture } from "./Fixture.ts"

interface MatrixOptions {
  readonly service?: TestServiceOptions
  /** Calls that change data run in a new fixture for each caller, unless that is too slow. */
  readonly freshWorlds?: boolean
  /** Reads and refusals by one caller for each role, target and outcome, instead of by every caller. */
  readonly oneOfEachRole?: boolean
}

let provider: IdentityProvider
let fixture: Fixture

interface Case {
  readonly operation: Operation
  readonly rule: Rule
  readonly caller: Caller
  readonly target: Target
}

const planted = ({ subjects }: Fixture): ReadonlyArray<Target> => subjectNames.map((of) => ({ label: of, of, subject: subjects[of] }))

const void_: Target = { label: "nothing", subject: nothing }

/** Operators name the tenant next to the id, which may belong to another tenant. */
const targetsOf = ({ contract, endpoint }: Operation, { subjects }: Fixture): ReadonlyArray<Target> => endpoint.access === "public" ? [void_] : [
  ...planted({ subjects } as Fixture),
  ...(contract.area === "operator"
    ? [{ label: "far's ids at acme", subject: { ...subjects.far, tenantId: "acme" } }, { label: "nothing at acme", subject: { ...nothing, tenantId: "acme" } }]
    : []),
  void_
]

/**
 * Ids that do not exist, in the same tenant as operators name it, and of the same carrier, because a foreign number
 * alone may be refused.
 */
const absentAs = ({ subject: { dot, mc, tenantId } }: Target, { contract }: Operation): Target =>
  ({ label: "nothing", subject: { ...nothing, dot, mc, ...(contract.area === "operator" && tenantId === "acme" ? { tenantId } : {}) } })

const receiverOf = (caller: Caller, { callers }: Fixture): string => `https://caller-${callers.findIndex(({ name }) => name === caller.name)}.example/hook`

/** New ids, because different content for a known id would be refused. */
const another = ({ eventId, billId, uniqueID }: Subject) => ({ eventId: `${eventId}-2`, billId: `${billId}2`, uniqueID: `${uniqueID}-2` })

const callFor = (each: Case, of: Fixture): Call => {
  const { caller, operation, rule, target } = each
  const isNew = operation.endpoint.method === "POST" && isOwnChange(each)
  const subject = { ...target.subject, ...(isNew ? another(target.subject) : {}), webhookUrl: receiverOf(caller, of) }
  const call = callOf(operation, subject, new SeededRandom(11), { full: true, text: () => "qcopy" })
  return rule.variant?.(call) ?? call
}

const ask = (each: Case, of: Fixture): Promise<Answer> => {
  const call = callFor(each, of)
  return send(of.service, each.operation, targetOf(each.operation, call), each.caller, call.body)
}

const casesOf = (of: Fixture, operation: Operation): ReadonlyArray<Case> =>
  (rulesOf(operation) ?? []).flatMap((rule) =>
    of.callers.flatMap((caller) => targetsOf(operation, of).map((target): Case => ({ operation, rule, caller, target }))))

/** Calls take turns in which of several callers with the same role and outcome makes them, so that each caller makes some. */
const oneOfEachRoleOf = (cases: ReadonlyArray<Case>): ReadonlyArray<Case> => {
  const alike = new Map<string, Array<Case>>()
  for (const each of cases) {
    const { caller, operation, rule, target } = each
    const { hidden, status } = expectedOf(operation, rule, caller, target)
    const kind = [rulesOf(operation)!.indexOf(rule), caller.role, caller.readOnly, target.label, status, hidden].join()
    alike.set(kind, [...alike.get(kind) ?? [], each])
  }
  return [...alike.values()].map((group) => group[operations.indexOf(group[0]!.operation) % group.length]!)
}

const titleOf = ({ caller, operation, rule, target }: Case): string =>
  `${operation.id}${rule.variant === undefined ? "" : " (variant)"} by ${caller.name} about ${target.label}`

/** Requires a dead letter, which no subject has. */
const refusedToAll = ["operator.dismissDelivery"]

const isOwnChange = ({ caller, operation, rule, target }: Case): boolean =>
  rule.effect === "changes" && expectedOf(operation, rule, caller, target).status < 400 &&
  (caller.role === "operator" || caller.tenantId === target.subject.tenantId)

/** Responses may repeat the ids of the request; removes these. */
const withoutEchoes = (text: string, { params, query }: Call, { subject }: Target): string => {
  const { accounts, ...named } = subject
  const sent = [...Object.values(params), ...Object.values(query), ...Object.values(named).map(String), ...accounts]
  const written = sent.flatMap((value) => [value, encodeURIComponent(value)]).filter((value) => value.length > 1).sort((a, b) => b.length - a.length)
  return written.reduce((rest, value) => rest.replaceAll(new RegExp(value.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi"), "…"), text)
}

const wholeOf = ({ headers, status, text }: Answer): string =>
  JSON.stringify([status, [...headers].filter(([name]) => !["date", "last-modified", "content-length"].includes(name)), text])

const base64Of = (word: string): string => Buffer.from(word.slice(0, word.length - word.length % 3)).toString("base64")

/** Words that the caller must not see. */
const forbidden = (caller: Caller, of: Fixture): ReadonlyArray<string> =>
  planted(of).flatMap((target): ReadonlyArray<string> => {
    const word = wordOf[target.of!]
    if (!seesFreight(caller, target)) return [word, base64Of(`${word}papers`)]
    return [
      ...(isItsClient(caller, target) ? [] : [`${word}own`]),
      ...(seesPapers(caller, target) ? [] : [`${word}papers`, base64Of(`${word}papers`)])
    ]
  })

/** The ids of a tenant's pickups, as its operator lists them. */
const pickupsOf = async ({ service }: Fixture, tenantId: string): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>()
  let next: string | undefined = ""
  while (next !== undefined) {
    const { json }: Answer = await service.send("GET", `/operator/v1/tenants/${tenantId}/pickups?limit=200${next}`, { key: operatorKey })
    for (const { pickupId } of json.data) ids.add(pickupId)
    next = json.nextCursor === null || json.nextCursor === undefined ? undefined : `&cursor=${encodeURIComponent(json.nextCursor)}`
  }
  return ids
}

const wordsOf = (text: string, words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.filter((word) => text.toLowerCase().includes(word.toLowerCase()) || text.includes(word))

const publicFields = ["ProNumber", "ShipmentMilestoneStatus", "UpdatedETA", "EstimatedStandardDay"]

/** Four public fields. The only one with a word of the subject is the PRO number, which the caller already knows. */
const isPublicShipment = (answer: Answer): boolean => JSON.stringify(Object.keys(answer.json ?? {})) === JSON.stringify(publicFields)

const check = async (each: Case, of: Fixture): Promise<void> => {
  const { caller, operation, rule, target } = each
  const expected = expectedOf(operation, rule, caller, target)
  const answer = await ask(each, of)
  expect(`${titleOf(each)}: ${answer.status}`, answer.text.slice(0, 500)).toBe(`${titleOf(each)}: ${expected.status}`)
  const call = callFor(each, of)
  const echoless = withoutEchoes(wholeOf(answer), call, target)
  const toAnybody = operation.endpoint.access === "anonymous" || (expected.status === 202 && operation.endpoint.access === "caller")
  if (toAnybody && expected.status < 300) {
    expect(isPublicShipment(answer), `${titleOf(each)} shows more than four fields: ${answer.text}`).toBe(true)
  } else if (caller.role !== "operator") {
    expect(wordsOf(echoless, forbidden(caller, of)), `${titleOf(each)} reveals data of others: ${answer.text.slice(0, 2000)}`).toEqual([])
  } else {
    const others = planted(of).filter(({ subject }) => subject.tenantId !== target.subject.tenantId).map(({ of: name }) => wordOf[name!])
    expect(wordsOf(echoless, others), `${titleOf(each)} reveals data of another tenant: ${answer.text.slice(0, 2000)}`).toEqual([])
  }
  if (!expected.hidden) return
  const absent = { ...each, target: absentAs(target, operation) }
  const unknown = withoutEchoes(wholeOf(await ask(absent, of)), callFor(absent, of), absent.target)
  expect(echoless, `${titleOf(each)} is not answered as what is not there`).toBe(unknown)
}

/** Everything about a subject that its client, its carrier and the operator can read. */
const snapshotOf = async (of: Fixture, subjects = planted(of)): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  for (const target of subjects) {
    const readers = of.callers.filter((caller) => caller.role === "operator" || isItsClient(caller, target) || (caller.role === "carrier" && caller.tenantId === target.subject.tenantId))
    // The audit log grows with every refusal, as intended.
    for (const operation of operations.filter(({ contract, endpoint, name }) => endpoint.method === "GET" && contract.area !== "system" && name !== "listAudit")) {
      for (const caller of readers) {
        const each: Case = { operation, rule: rulesOf(operation)![0]!, caller, target }
        if (expectedOf(operation, each.rule, caller, target).status >= 300) continue
        const { json, status, text } = await ask(each, of)
        const shown = json?.data === undefined ? text : JSON.stringify(json)
        // A refused call also uses its key, which is recorded a while later.
        lines.push(`${titleOf(each)}: ${status} ${shown.replaceAll(/"(lastUsedAt|lastSeenAt)":(?:null|"[^"]*")/g, '"$1":…')}`)
      }
    }
  }
  return lines
}

const withEffect = (effect: Rule["effect"]) =>
  operations.filter((operation) => rulesOf(operation)?.some((rule) => rule.effect === effect) === true).map((operation) => [operation.id, operation] as const)

const casesWith = (effect: Rule["effect"], operation: Operation): ReadonlyArray<Case> => casesOf(fixture, operation).filter(({ rule }) => rule.effect === effect)

type Choice = (cases: ReadonlyArray<Case>) => ReadonlyArray<Case>

const expectedIn = ({ caller, operation, rule, target }: Case): number => expectedOf(operation, rule, caller, target).status

/** Defines the tests. */
export const accessMatrix = ({ freshWorlds = true, oneOfEachRole = false, service = {} }: MatrixOptions = {}): void => {
  // Some of the tests make thousands of calls.
  vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })
  beforeAll(async () => {
    provider = await startIdentityProvider()
    fixture = await startFixture(provider, service)
  })
  afterAll(async () => {
    await fixture.service.stop()
    await provider.close()
  })

  theTable()
  theCalls(freshWorlds, oneOfEachRole ? oneOfEachRoleOf : (cases) => cases)
}

const theTable = () => {
  describe("the table of access rules", () => {
    it("has exactly the calls of the contracts", () => {
      const missing = operations.filter((operation) => rulesOf(operation) === undefined).map(({ contract, name, template }) =>
        `No access rule for ${name} of ${contract.area} (${template}). Add ${name} to rules in AccessRules.ts.`)
      expect(missing.join("\n")).toBe("")
      const ids = operations.map(({ id }) => id)
      expect(ruledIds.filter((id) => !ids.includes(id)), "There is no such call any more. Take its rule out.").toEqual([])
    })

    it("is tested with callers and subjects of every kind", () => {
      expect(new Set(fixture.callers.map(({ role }) => role)).size).toBe(5)
      for (const target of planted(fixture)) {
        const seeing = fixture.callers.filter((caller) => seesFreight(caller, target))
        expect(seeing.length).toBeGreaterThan(1)
        expect(seeing.length).toBeLessThan(fixture.callers.length / 2)
      }
    })
  })
}

const theCalls = (freshWorlds: boolean, chosen: Choice) => {
  // In order on one fixture: reads first, calls with lasting effects last.

  describe("a call that reads", () => {
    it.each(withEffect("reads"))("%s returns what each caller may see, and hides the rest as if it did not exist", async (_, operation) => {
      for (const each of chosen(casesWith("reads", operation))) await check(each, fixture)
    })
  })

  describe("a call that changes something", () => {
    it("is refused without permission, and changes nothing", async () => {
      const before = await snapshotOf(fixture)
      expect(before.length).toBeGreaterThan(80)
      for (const [, operation] of withEffect("changes")) {
        for (const each of chosen(casesWith("changes", operation))) if (expectedIn(each) >= 400) await check(each, fixture)
      }
      await fixture.service.deliver()
      expect(await snapshotOf(fixture)).toEqual(before)
    })

    if (!freshWorlds) return
    it("succeeds with permission", async () => {
      const byMethod = ["POST", "PUT", "PATCH", "DELETE"]
      const changing = withEffect("changes").map(([, operation]) => operation)
        .sort((a, b) => byMethod.indexOf(a.endpoint.method) - byMethod.indexOf(b.endpoint.method))
      const done = new Set<Operation>()
      for (const { name } of fixture.callers) {
        const fresh = await startFixture(provider)
        for (const each of changing.flatMap((operation) => casesOf(fresh, operation)).filter((one) => one.caller.name === name && isOwnChange(one))) {
          await check(each, fresh)
          done.add(each.operation)
        }
        await fresh.service.stop()
      }
      expect(changing.filter((operation) => !done.has(operation)).map(({ id }) => id), "nobody may").toEqual(refusedToAll)
    })
  })

  describe("a call that adds data of the caller", () => {
    it.each(withEffect("adds"))("%s refuses ids that belong to others", async (_, operation) => {
      for (const each of casesWith("adds", operation)) await check(each, fixture)
    })
  })

  describe("subscriptions without access", () => {
    it("receive nothing", async () => {
      const carriers = { acme: "acme's carrier", bolt: "bolt's carrier" } as const
      for (const target of planted(fixture)) {
        const caller = fixture.callers.find(({ name }) => name === carriers[target.subject.tenantId as "acme" | "bolt"])!
        for (const name of ["reportTransitEvents", "reportStatusUpdates", "reportFreightCharges"]) {
          const operation = operationOf(`intake.${name}`)
          const subject = { ...target.subject, eventId: `${target.subject.eventId}-2`, billId: `${target.subject.billId}2` }
          const call = callOf(operation, subject, new SeededRandom(3), { full: true, text: () => `${wordOf[target.of!]}news` })
          expect((await send(fixture.service, operation, targetOf(operation, call), caller, call.body)).status).toBe(200)
        }
      }
      await fixture.service.deliver()
      let received = 0
      for (const caller of fixture.callers) {
        const all = await fixture.service.received(receiverOf(caller, fixture))
        // a pickup that no carrier has decided is for every carrier of the tenant, regardless of the order
        const pickups = all.flatMap(({ json }): ReadonlyArray<{ readonly pickupId: string }> => json.pickups ?? [])
        const own = caller.role === "carrier" ? await pickupsOf(fixture, caller.tenantId!) : new Set<string>()
        expect(pickups.map(({ pickupId }) => pickupId).filter((pickupId) => !own.has(pickupId)), `${caller.name}, pickups`).toEqual([])
        const texts = all.filter(({ json }) => json.pickups === undefined).map(({ text }) => text)
        expect(wordsOf(texts.join("\n"), forbidden(caller, fixture)), caller.name).toEqual([])
        if (texts.some((text) => text.includes("news"))) received += 1
      }
      // Subscribers to their own freight receive it.
      expect(received).toBeGreaterThan(5)
    })
  })

  describe("another tenant's carrier", () => {
    it.each(["acme", "bolt"])("%s's may use the same ids and numbers, for its own freight", async (tenantId) => {
      const others = planted(fixture).filter(({ subject }) => subject.tenantId !== tenantId)
      const before = await snapshotOf(fixture, others)
      const copies = withEffect("changes").flatMap(([, operation]) => casesWith("changes", operation))
        // With several carriers, new data belongs to the first one that writes it.
        .filter((each) => each.caller.tenantId === tenantId && each.caller.numbers === undefined && others.some(({ of }) => of === each.target.of) && expectedIn(each) < 400)
      expect(copies.length).toBeGreaterThan(5)
      for (const each of copies) await check(each, fixture)
      await fixture.service.deliver()
      expect(await snapshotOf(fixture, others)).toEqual(before)
    })
  })
}
