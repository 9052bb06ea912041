/** What goes wrong in a schedule. */
import type { SimulationRandom } from "./SimulationRandom.ts"
import type { Manner, Receivers } from "./Receivers.ts"
import type { StoreCall } from "./StoreWire.ts"
import type { AnswerFate, FaultModel } from "./FaultModel.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

const kinds = ["kill", "kill", "freeze", "freeze", "stop", "store away", "store stalls", "spoil", "spoil", "spoil", "loss", "receiver", "receiver", "receiver", "muddle", "muddle", "hints", "clock"] as const

const calls: ReadonlyArray<StoreCall> = ["tenantsDue", "claim", "claim", "freeze", "freeze", "freeze", "settle", "settle", "settle", "heartbeat"]
const fates: ReadonlyArray<AnswerFate> = ["lost", "never reached", "given up"]
const manners: ReadonlyArray<Manner> = ["fails", "fails", "busy", "gone", "hangs", "refuses", "lossy", "moody", "moody"]

export interface Disturbed {
  readonly simulation: SimulationContext
  readonly faultModel: FaultModel
  readonly receivers: Receivers
  /** Whether anything but receivers misbehaves. */
  readonly disturbed: boolean
  readonly leaseMillis: number
  /** Names of those that are open. */
  readonly lanes: () => ReadonlyArray<string>
  /** Those that run now. */
  readonly processes: () => ReadonlyArray<WorkerProcess>
}

export const disturb = (random: SimulationRandom, { disturbed, lanes, leaseMillis, processes, receivers, faultModel, simulation }: Disturbed): void => {
  const kind = disturbed ? random.pick(kinds) : "receiver"
  const running = processes()
  const victim = running.length === 0 ? undefined : random.pick(running)
  const long = random.pick([10, 300, leaseMillis - 1, leaseMillis + 200, leaseMillis * 2])
  switch (kind) {
    case "kill":
      return victim?.kill()
    case "stop":
      if (victim === undefined) return
      simulation.note(victim.name, "is told to stop")
      return victim.stop()
    case "freeze":
      if (victim === undefined) return
      victim.resumesAt = simulation.now + long
      return void simulation.note(victim.name, `stands still for ${long} ms`)
    case "clock": {
      const more = random.pick([-3_600_000, -5000, -10, 700, 5000, 3_600_000])
      victim?.setClock(more)
      return void simulation.note(victim?.name ?? "nobody", `has its clock set by ${more} ms`)
    }
    case "store away":
      faultModel.awayUntil = simulation.now + long
      return void simulation.note("store", `is away for ${long} ms`)
    case "store stalls":
      faultModel.stallsUntil = simulation.now + long
      return void simulation.note("store", `stalls for ${long} ms`)
    case "spoil": {
      const [call, fate, times] = [random.pick(calls), random.pick(fates), random.pick([1, 1, 2, 4, 8])]
      faultModel.spoil(call, fate, times)
      return void simulation.note("wire", `the next ${times} answers to ${call} are ${fate}`)
    }
    case "loss":
      faultModel.lossy = random.pick([0.05, 0.3])
      return void simulation.note("wire", `loses ${faultModel.lossy} of all answers`)
    case "hints":
      faultModel.hintsLost = 1
      return void simulation.note("wire", "loses all hints")
    case "muddle": {
      // outcomes of all kinds, and the store forgets to say that it wrote them
      for (const lane of lanes()) receivers.behave(lane, "moody", 10_000)
      const call = random.share(0.7) ? "settle" : random.pick(calls)
      faultModel.spoil(call, "lost", 4)
      return void simulation.note("wire", `the next 4 answers to ${call} are lost, and all receivers moody from now on`)
    }
    case "receiver": {
      const [names, manner, millis] = [lanes(), random.pick(manners), random.pick([100, 3000, 10_000])]
      if (names.length === 0) return
      const lane = random.pick(names)
      receivers.behave(lane, manner, millis)
      return void simulation.note("receiver", `${lane} ${manner} from now on`)
    }
  }
}
