/** What goes wrong in a schedule. */
import type { Chance } from "./Chance.ts"
import type { Manner, Receivers } from "./Receivers.ts"
import type { StoreCall } from "./StoreWire.ts"
import type { AnswerFate, Weather } from "./Weather.ts"
import type { World } from "./World.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

const kinds = ["kill", "kill", "freeze", "freeze", "stop", "store away", "store stalls", "spoil", "spoil", "spoil", "loss", "receiver", "receiver", "receiver", "muddle", "muddle", "hints", "clock"] as const

const calls: ReadonlyArray<StoreCall> = ["tenantsDue", "claim", "claim", "freeze", "freeze", "freeze", "settle", "settle", "settle", "heartbeat"]
const fates: ReadonlyArray<AnswerFate> = ["lost", "never reached", "given up"]
const manners: ReadonlyArray<Manner> = ["fails", "fails", "busy", "gone", "hangs", "refuses", "lossy", "moody", "moody"]

export interface Disturbed {
  readonly world: World
  readonly weather: Weather
  readonly receivers: Receivers
  /** Whether anything but receivers misbehaves. */
  readonly disturbed: boolean
  readonly leaseMillis: number
  /** Names of those that are open. */
  readonly lanes: () => ReadonlyArray<string>
  /** Those that run now. */
  readonly processes: () => ReadonlyArray<WorkerProcess>
}

export const disturb = (chance: Chance, { disturbed, lanes, leaseMillis, processes, receivers, weather, world }: Disturbed): void => {
  const kind = disturbed ? chance.pick(kinds) : "receiver"
  const running = processes()
  const victim = running.length === 0 ? undefined : chance.pick(running)
  const long = chance.pick([10, 300, leaseMillis - 1, leaseMillis + 200, leaseMillis * 2])
  switch (kind) {
    case "kill":
      return victim?.kill()
    case "stop":
      if (victim === undefined) return
      world.note(victim.name, "is told to stop")
      return victim.stop()
    case "freeze":
      if (victim === undefined) return
      victim.resumesAt = world.now + long
      return void world.note(victim.name, `stands still for ${long} ms`)
    case "clock": {
      const more = chance.pick([-3_600_000, -5000, -10, 700, 5000, 3_600_000])
      victim?.setClock(more)
      return void world.note(victim?.name ?? "nobody", `has its clock set by ${more} ms`)
    }
    case "store away":
      weather.awayUntil = world.now + long
      return void world.note("store", `is away for ${long} ms`)
    case "store stalls":
      weather.stallsUntil = world.now + long
      return void world.note("store", `stalls for ${long} ms`)
    case "spoil": {
      const [call, fate, times] = [chance.pick(calls), chance.pick(fates), chance.pick([1, 1, 2, 4, 8])]
      weather.spoil(call, fate, times)
      return void world.note("wire", `the next ${times} answers to ${call} are ${fate}`)
    }
    case "loss":
      weather.lossy = chance.pick([0.05, 0.3])
      return void world.note("wire", `loses ${weather.lossy} of all answers`)
    case "hints":
      weather.hintsLost = 1
      return void world.note("wire", "loses all hints")
    case "muddle": {
      // outcomes of all kinds, and the store forgets to say that it wrote them
      for (const lane of lanes()) receivers.behave(lane, "moody", 10_000)
      const call = chance.share(0.7) ? "settle" : chance.pick(calls)
      weather.spoil(call, "lost", 4)
      return void world.note("wire", `the next 4 answers to ${call} are lost, and all receivers moody from now on`)
    }
    case "receiver": {
      const [names, manner, millis] = [lanes(), chance.pick(manners), chance.pick([100, 3000, 10_000])]
      if (names.length === 0) return
      const lane = chance.pick(names)
      receivers.behave(lane, manner, millis)
      return void world.note("receiver", `${lane} ${manner} from now on`)
    }
  }
}
