/** Runs rules against an implementation. A rule whose needs are missing is not checked, and never passes. */
import type { Callback, Post } from "./Callback.ts"
import { ApiCaller, type Exchange, LimitReached, type Limits } from "./ApiCaller.ts"
import { type Fixtures, secretsIn, tokenIn } from "./Fixtures.ts"
import { type Area, areas, type Need, needs, type Rule, type RuleContext, Violation, type WindowFrequency } from "./Rule.ts"
import { redactor, requestText, answerText, deliveryText } from "./Evidence.ts"

/** The implementation to check. */
export interface Target {
  /** The address of each area. */
  readonly bases: Readonly<Record<Area, string>>
  readonly fixtures: Fixtures
  readonly limits: Limits
  readonly callback: Callback
  /** Whether the implementation can reach the callback. */
  readonly isReachable: boolean
  /** Makes the implementation publish in an area. */
  readonly trigger?: (area: Area) => Promise<void>
  readonly waitMillis: number
  readonly quietMillis: number
  /** How long the check may wait for the end of a window. Default: not at all. */
  readonly windowMillis?: Readonly<Partial<Record<WindowFrequency, number>>>
  readonly onWindowWait?: (frequency: WindowFrequency, millis: number) => void
}

const isPresent = (need: Need, { fixtures, isReachable, trigger, windowMillis = {} }: Target): boolean => {
  switch (need) {
    case "token":
      return tokenIn(fixtures) !== undefined
    case "expiredToken":
      return fixtures.tokens?.expired !== undefined
    case "hour":
      return windowMillis.hourly !== undefined
    case "day":
      return windowMillis.daily !== undefined
    case "customer":
    case "other":
    case "carrier":
      return fixtures.clients?.[need] !== undefined
    case "secret":
      return fixtures.webhook !== undefined
    case "trigger":
      return trigger !== undefined
    case "receiver":
      return isReachable
    default:
      return fixtures[need] !== undefined
  }
}

/** The result of one check: of a requirement for receivers, or of a rule for implementations. */
export interface CheckResult {
  readonly id: string
  readonly sentence: string
  /** Not checked: something that the check needs is missing. Never counts as passed. */
  readonly status: "passed" | "failed" | "not checked"
  readonly detail: string
  /** Response time, or duration of the whole check. */
  readonly millis: number
  readonly level?: "must" | "should"
  /** Section of the interface. */
  readonly source?: string
  /** The call and its answer, or the delivery, that shows a failure. */
  readonly request?: string
  readonly answer?: string
}

export interface Run {
  readonly results: ReadonlyArray<CheckResult>
  readonly calls: number
  /** Set when nothing answered. */
  readonly unreachable?: string
}

export interface RunOptions {
  readonly onResult?: (result: CheckResult) => void
  /** Ends the run early. What the rules created is removed all the same. */
  readonly signal?: AbortSignal
}

const callerOf = ({ bases, fixtures }: Target, limits: Limits): ApiCaller => new ApiCaller({ bases, credentials: fixtures.clients ?? {}, limits })

/** Runs the areas at the same time, and the rules of an area one by one. */
export const runRules = async (target: Target, rules: ReadonlyArray<Rule>, { onResult = () => {}, signal }: RunOptions = {}): Promise<Run> => {
  const caller = callerOf(target, target.limits)
  const done = new Map<string, CheckResult>()
  await Promise.all(areas.map(async (area) => {
    const running = startArea(target, caller, signal)
    try {
      for (const rule of rules) {
        if (rule.area !== area || signal?.aborted === true) continue
        const result = await running.result(rule)
        done.set(rule.id, result)
        onResult(result)
      }
    } finally {
      await running.end()
    }
  }))
  const results = rules.flatMap(({ id }) => done.get(id) ?? [])
  const first = results.find(({ status }) => status === "failed")
  return { results, calls: caller.calls, ...(caller.answered || first === undefined ? {} : { unreachable: first.detail }) }
}

/** For removing what the rules created, also when the limits of the check are used up. */
const cleanup = { totalMillis: 30_000, maxCalls: 10_000 }

/** Begins the rules of one area. */
const startArea = (target: Target, caller: ApiCaller, signal: AbortSignal | undefined) => {
  const redact = redactor(secretsIn(target.fixtures))
  const made = new Map<string, Promise<unknown>>()
  const ends: Array<() => Promise<unknown>> = []
  let calling = caller

  const context: RuleContext = {
    fixtures: target.fixtures,
    call: (...given) => calling.call(...given),
    inbox: () => target.callback.inbox(),
    endpointUrl: target.isReachable ? target.callback.inbox().url : "https://receiver.example/waybill-check",
    trigger: async (area) => await target.trigger?.(area),
    once: <A>(name: string, make: () => Promise<A>) => {
      const known = made.get(name) ?? make()
      made.set(name, known)
      return known as Promise<A>
    },
    afterwards: (end) => void ends.push(end),
    waitMillis: target.waitMillis,
    quietMillis: target.quietMillis,
    windowWait: (frequency) => {
      const millis = target.windowMillis?.[frequency]
      if (millis !== undefined) target.onWindowWait?.(frequency, millis)
      return millis
    }
  }

  /** A rule that waits ends with the time of the whole check. */
  const inTime = async <A>(work: Promise<A>): Promise<A> => {
    let timer: NodeJS.Timeout | undefined
    let stop = (): void => {}
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new LimitReached("the time limit of the check is used up")), Math.max(0, calling.leftMillis))
      stop = () => reject(new LimitReached("the check was interrupted"))
      signal?.addEventListener("abort", stop)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener("abort", stop)
    }
  }

  const evidenceOf = (evidence: Exchange | Post | undefined): Pick<CheckResult, "request" | "answer"> => {
    if (evidence === undefined) return {}
    return "status" in evidence
      ? { request: redact(requestText(evidence)), answer: redact(answerText(evidence)) }
      : { request: redact(deliveryText(evidence)) }
  }

  return {
    result: async (rule: Rule): Promise<CheckResult> => {
      const { id, level, run, sentence, source } = rule
      const named = { id, sentence, level, source }
      const missing = rule.needs.filter((need) => !isPresent(need, target))
      if (missing.length > 0) return { ...named, status: "not checked", detail: `needs ${missing.map((need) => needs[need]).join("; ")}`, millis: 0 }
      const begun = performance.now()
      const millis = () => Math.round(performance.now() - begun)
      try {
        const detail = await inTime(run(context))
        return { ...named, status: "passed", detail: redact(detail), millis: millis() }
      } catch (error) {
        if (error instanceof LimitReached) return { ...named, status: "not checked", detail: error.message, millis: millis() }
        const evidence = error instanceof Violation ? error.evidence : undefined
        return { ...named, status: "failed", detail: redact(error instanceof Error ? error.message : String(error)), millis: millis(), ...evidenceOf(evidence) }
      }
    },
    /** Removes what the rules created, in reverse. That removing works is a rule of its own. */
    end: async (): Promise<void> => {
      calling = callerOf(target, { ...target.limits, ...cleanup })
      for (const end of ends.toReversed()) await end().catch(() => {})
    }
  }
}
