/** The upper limit: one undici pool in a loop, without storage, retries or ordering. */
import { sampleBody } from "../waybill/SampleEvent.ts"
import { type Contender, type ContenderOptions, nowMillis } from "./Contender.ts"
import { makePoster } from "./SignedPost.ts"

const connections = 64

export const makeRawUndici = (options: ContenderOptions, sign: boolean): Contender => {
  const poster = makePoster(options.receiver, { connections, sign })
  const bodies = Array.from({ length: 1000 }, (_, n) => sampleBody(n))
  const drain = async (count: number) => {
    let next = 0
    const loop = async () => {
      while (next < count) {
        const n = next++
        await poster.post(String(n).padStart(36, "0"), bodies[n % bodies.length]!)
      }
    }
    const startedAt = nowMillis()
    await Promise.all(Array.from({ length: connections }, loop))
    return startedAt
  }
  return {
    fill: () => Promise.resolve(),
    drain,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    publish: async (mark) => {
      const at = nowMillis()
      await poster.post("0".repeat(36), bodies[0]!.replace("mark-00000000", mark))
      return at
    },
    close: poster.close
  }
}
