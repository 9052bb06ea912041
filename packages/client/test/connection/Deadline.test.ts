import { expect, it, onTestFinished, vi } from "vitest"
import { sleep } from "../../src/connection/Deadline.ts"

it("a pause that is longer than a timer waits, and does not end at once", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const ended = vi.fn<() => void>()
  void sleep(2 ** 31, undefined).then(ended)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ended).not.toHaveBeenCalled()
})
