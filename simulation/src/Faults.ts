/** Injects one random fault into a schedule. */
import type { SeededRandom } from "@waybill/conformance/fixtures"
import type { ReceiverBehaviour, Receivers } from "./Receivers.ts"
import type { StoreCall } from "./StoreConnection.ts"
import type { CallEnd, FaultModel } from "./FaultModel.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

const kinds = ["kill", "kill", "pause", "pause", "stop", "start", "store unavailable", "store stalls", "failed calls", "failed calls", "failed calls", "lost answers", "receiver", "receiver", "receiver", "mixed outcomes", "mixed outcomes", "lost hints", "clock"] as const

const calls: ReadonlyArray<StoreCall> = ["renew", "look", "acquire", "acquire", "load", "take", "take", "take", "reclaim", "settle", "settle", "settle", "drop", "release"]
const ends: ReadonlyArray<CallEnd> = ["answer lost", "request lost", "abandoned"]
const behaviours: ReadonlyArray<ReceiverBehaviour> = ["fails", "fails", "busy", "gone", "hangs", "refuses", "lossy", "mixed", "mixed"]

interface FaultTargets {
  readonly simulation: SimulationContext
  readonly faultModel: FaultModel
  readonly receivers: Receivers
  /** Whether processes, store and network have faults, not only receivers. */
  readonly hasInternalFaults: boolean
  readonly leaseMillis: number
  /** Names of open destinations. */
  readonly destinations: () => ReadonlyArray<string>
  /** Running processes. */
  readonly processes: () => ReadonlyArray<WorkerProcess>
  /** Starts another process, unless there are enough. */
  readonly start: () => void
}

export const injectFault = (random: SeededRandom, { hasInternalFaults, destinations, leaseMillis, processes, receivers, faultModel, simulation, start }: FaultTargets): void => {
  const kind = hasInternalFaults ? random.pick(kinds) : "receiver"
  const running = processes()
  const victim = running.length === 0 ? undefined : random.pick(running)
  const long = random.pick([10, 300, leaseMillis - 1, leaseMillis + 200, leaseMillis * 2])
  switch (kind) {
    case "kill":
      return victim?.kill()
    case "stop":
      if (victim === undefined) return
      simulation.note(victim.name, "is asked to stop")
      return victim.stop()
    case "pause": {
      const millis = random.pick([long, long, long, 60_000])
      victim?.pause(millis)
      return void simulation.note(victim?.name ?? "no worker", `pauses for ${millis} ms`)
    }
    case "start":
      return start()
    case "clock": {
      const more = random.pick([-3_600_000, -5000, -10, 700, 5000, 3_600_000])
      victim?.setClock(more)
      return void simulation.note(victim?.name ?? "no worker", `has its clock changed by ${more} ms`)
    }
    case "store unavailable":
      faultModel.unavailableUntil = simulation.now + long
      return void simulation.note("store", `is unavailable for ${long} ms`)
    case "store stalls":
      faultModel.stallsUntil = simulation.now + long
      return void simulation.note("store", `stalls for ${long} ms`)
    case "failed calls": {
      const [call, end, times] = [random.pick(calls), random.pick(ends), random.pick([1, 1, 2, 4, 8])]
      faultModel.failNext(call, end, times)
      return void simulation.note("network", `the next ${times} calls of ${call} end as: ${end}`)
    }
    case "lost answers":
      faultModel.lossy = random.pick([0.05, 0.3])
      return void simulation.note("network", `loses ${faultModel.lossy} of all answers`)
    case "lost hints":
      faultModel.hintLossShare = 1
      return void simulation.note("network", "loses all hints")
    case "mixed outcomes": {
      // outcomes of all kinds, and lost responses to their writes
      for (const destination of destinations()) receivers.behave(destination, "mixed", 10_000)
      const call = random.share(0.7) ? "settle" : random.pick(calls)
      faultModel.failNext(call, "answer lost", 4)
      return void simulation.note("network", `the next 4 answers to ${call} are lost, and all receivers are mixed from now on`)
    }
    case "receiver": {
      const [names, behaviour, millis] = [destinations(), random.pick(behaviours), random.pick([100, 3000, 10_000])]
      if (names.length === 0) return
      const destination = random.pick(names)
      receivers.behave(destination, behaviour, millis)
      return void simulation.note("receiver", `${destination} ${behaviour} from now on`)
    }
  }
}
