/** Processor time of one signed request of 1 KB in the sending process, with Waybill's sender, `undici.request` and plain sockets. */
import { median } from "../measure/Stats.ts"
import type { SenderHandlers } from "../waybill/sender-process.ts"
import { type Scenario, startMeasured } from "./Bench.ts"

const module = new URL("../waybill/sender-process.ts", import.meta.url)

const senders = { waybill: "Waybill's sender", undici: "undici.request", plain: "plain sockets" } as const

export const sender: Scenario = {
  name: "sender",
  title: "processor time of one signed POST of 1 KB in the sending process, 64 connections",
  run: async (bench) => {
    const contenders = []
    for (const kind of ["waybill", "undici", "plain"] as const) {
      contenders.push({ kind, child: await startMeasured<SenderHandlers>(bench, module, [bench.receiver.url, kind]), rounds: new Array<number>() })
    }
    for (let round = 0; round <= (bench.quick ? 1 : 7); round++) {
      for (const { child, rounds } of contenders) {
        const each = await child.call.send(bench.quick ? 2000 : 60_000)
        if (round > 0) rounds.push(each)
      }
    }
    await Promise.all(contenders.map(({ child }) => child.end()))
    const [own, undici, plain] = contenders.map(({ rounds }) => median(rounds))
    return {
      lines: contenders.map(({ kind, rounds }) => ({ label: senders[kind], value: median(rounds), unit: "µs" as const, rounds })),
      verdicts: [{ label: `${senders.waybill} to ${senders.undici}`, ratio: own! / undici!, target: 0.4, better: "lower" as const }],
      remarks: [`Plain sockets, which only write, read and sign, are at ${(plain! / undici!).toFixed(2)} of ${senders.undici}: the target is out of reach where system calls take more than that.`]
    }
  }
}
