/** `npm run chaos`: the long form, with configurable numbers. Exits with 1 after a violation. */
import { parseArgs } from "node:util"
import { runChaos } from "./Chaos.ts"
import { type ChaosPlan, longPlan, shortPlan } from "./Plan.ts"

const numbers = {
  events: "events",
  subscriptions: "subscriptions",
  tenants: "tenants",
  processes: "processes",
  kills: "kills",
  restarts: "restarts",
  exhaustions: "exhaustions",
  seconds: "seconds",
  seed: "seed",
  "drain-seconds": "drainSeconds",
  "lease-seconds": "leaseSeconds",
  "resume-seconds": "resumeSeconds",
  "max-rss-mib": "maxRssMiB"
} as const satisfies Record<string, keyof ChaosPlan>

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    ...Object.fromEntries(Object.keys(numbers).map((name) => [name, { type: "string" as const }]))
  }
})

const given = Object.entries(numbers).flatMap(([flag, member]) => {
  const text = (values as Record<string, unknown>)[flag]
  if (text === undefined) return []
  const number = Number(text)
  if (!Number.isFinite(number) || number < 0) throw new Error(`--${flag} is a number, not ${String(text)}.`)
  return [[member, number] as const]
})
const plan: ChaosPlan = { ...(values.short ? shortPlan : longPlan), seed: Date.now() % 1_000_000, ...Object.fromEntries(given) }

const write = (line: string) => process.stdout.write(`${line}\n`)

write(`seed ${plan.seed}`)
const report = await runChaos(plan, { keep: values.keep === true, say: write })
write("")
for (const [name, value] of Object.entries(report.counts)) write(`${name.padEnd(32)} ${value}`)
write("")
for (const [said, times] of report.logs.trouble.slice(0, 15)) write(`${String(times).padStart(6)} × ${said}`)
for (const { count, first, rule } of report.violations) write(`\nVIOLATED ${count} ×: ${rule}\n${first.map((each) => `  ${each}`).join("\n")}`)
write(report.violations.length === 0 ? `\nNothing was violated. Seed ${report.seed}.` : `\nSeed ${report.seed}; logs are in ${report.artifacts}`)
process.exit(report.violations.length === 0 ? 0 : 1)
