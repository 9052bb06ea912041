import { describe, expect, it } from "vitest"
import { everyMillis, pauseAfter, Poller, type PollerClock, type Seen } from "../../../dashboard/model/Poller.ts"

/** A fake clock, and requests that the test answers. */
const setUp = (before?: string) => {
  const timers: Array<{ at: number; then: () => void }> = []
  let now = 0
  const clock: PollerClock = {
    now: () => now,
    after: (millis, then) => {
      const timer = { at: now + millis, then }
      timers.push(timer)
      return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1))
    }
  }
  const questions: Array<{ answer: (text: string) => Promise<void>; fail: (failure: unknown) => Promise<void>; signal: AbortSignal }> = []
  const seen: Array<Seen<string>> = []
  const poller = new Poller<string>({
    before,
    clock,
    seen: (next) => void seen.push(next),
    ask: (signal) =>
      new Promise((resolve, reject) => {
        const settled = async () => {
          for (let turn = 0; turn < 5; turn++) await Promise.resolve()
        }
        questions.push({ signal, answer: (text) => (resolve(text), settled()), fail: (failure) => (reject(failure), settled()) })
      })
  })
  const pass = (millis: number) => {
    now += millis
    for (const timer of timers.filter(({ at }) => at <= now)) {
      timers.splice(timers.indexOf(timer), 1)
      timer.then()
    }
  }
  return { poller, questions, seen, pass, timers }
}

describe("Poller", () => {
  it("sends a request at once, and again some time after each response, one at a time", async () => {
    const { pass, poller, questions, seen } = setUp()
    poller.start()
    poller.start()
    expect(questions).toHaveLength(1)
    pass(60_000)
    expect(questions).toHaveLength(1)
    await questions[0]!.answer("first")
    expect(seen).toEqual([{ data: "first", failure: undefined, failingSince: undefined }])
    // The request took a minute, so the longest pause follows.
    pass(29_999)
    expect(questions).toHaveLength(1)
    pass(1)
    expect(questions).toHaveLength(2)
    await questions[1]!.answer("second")
    pass(everyMillis)
    expect(questions).toHaveLength(3)
  })

  it("keeps its data while requests fail, reports since when, and backs off", async () => {
    const { pass, poller, questions, seen } = setUp("from before")
    poller.start()
    await questions[0]!.fail("down")
    expect(seen.at(-1)).toEqual({ data: "from before", failure: "down", failingSince: 0 })
    pass(2 * everyMillis)
    await questions[1]!.fail("still down")
    expect(seen.at(-1)).toEqual({ data: "from before", failure: "still down", failingSince: 0 })
    pass(2 * everyMillis)
    expect(questions).toHaveLength(2)
    pass(2 * everyMillis)
    await questions[2]!.answer("up")
    expect(seen.at(-1)).toEqual({ data: "up", failure: undefined, failingSince: undefined })
    pass(everyMillis)
    expect(questions).toHaveLength(4)
  })

  it("aborts the request in flight when it stops, and ignores its response", async () => {
    const { pass, poller, questions, seen, timers } = setUp()
    poller.start()
    poller.stop()
    expect(questions[0]!.signal.aborted).toBe(true)
    await questions[0]!.answer("too late")
    pass(60_000)
    expect([seen, timers, questions.length]).toEqual([[], [], 1])
    poller.start()
    await questions[1]!.answer("again")
    expect(seen).toHaveLength(1)
  })

  it("sends one more request after the one in flight when data changed", async () => {
    const { poller, questions, seen } = setUp()
    poller.start()
    poller.now()
    poller.now()
    expect(questions).toHaveLength(1)
    await questions[0]!.answer("before the change")
    expect(questions).toHaveLength(2)
    await questions[1]!.answer("after it")
    expect([seen.length, questions.length]).toEqual([2, 2])
  })

  it("sends one request on demand while stopped", async () => {
    const { poller, questions, seen, timers } = setUp()
    poller.now()
    await questions[0]!.answer("now")
    expect([seen.length, timers.length]).toEqual([1, 0])
  })

  it("waits four times the duration of a slow response, and at most half a minute after failures", () => {
    expect([pauseAfter(0, 10), pauseAfter(0, 1_000), pauseAfter(0, 60_000), pauseAfter(1, 10), pauseAfter(3, 10), pauseAfter(9, 10)]).toEqual([2_000, 4_000, 30_000, 4_000, 16_000, 30_000])
  })
})
