/** Results as readable lines and as values for a file. */

/** A figure with its optional target. */
export interface Line {
  readonly label: string
  readonly value: number
  readonly unit: "/s" | "/day" | "ms" | "µs" | "MB" | "x"
  /** The value of every round, if there are several. */
  readonly rounds?: ReadonlyArray<number>
  readonly note?: string
}

/** A ratio against its target. */
export interface Verdict {
  readonly label: string
  readonly ratio: number
  readonly target: number
  readonly better: "higher" | "lower"
}

export interface ScenarioResult {
  readonly name: string
  readonly title: string
  readonly lines: ReadonlyArray<Line>
  readonly verdicts: ReadonlyArray<Verdict>
  readonly remarks?: ReadonlyArray<string>
}

const number = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits })
}

const figure = ({ unit, value }: Line): string => unit === "x" ? `${number(value)} x` : unit === "/s" || unit === "/day" ? `${number(value)}${unit}` : `${number(value)} ${unit}`

export const isMet = ({ better, ratio, target }: Verdict): boolean => better === "higher" ? ratio >= target : ratio <= target

const judged = (verdict: Verdict): string => {
  const { better, ratio, target } = verdict
  const wanted = `${better === "higher" ? "≥" : "≤"} ${number(target)}`
  if (isMet(verdict)) return `${number(ratio)} (${wanted}: met)`
  const factor = better === "higher" ? target / ratio : ratio / target
  return `${number(ratio)} (${wanted}: missed by a factor of ${number(factor)})`
}

/** Figures, verdicts and remarks, a line for each. */
export const figures = (result: ScenarioResult): ReadonlyArray<string> => {
  const width = Math.max(...[...result.lines, ...result.verdicts].map((each) => each.label.length))
  const rounds = (line: Line) => line.rounds === undefined || line.rounds.length < 2 ? "" : `   [${line.rounds.map(number).join("  ")}]`
  return [
    ...result.lines.map((line) => `${line.label.padEnd(width)}  ${figure(line).padStart(14)}${rounds(line)}${line.note === undefined ? "" : `   ${line.note}`}`),
    ...result.verdicts.map((verdict) => `${verdict.label.padEnd(width)}  → ${judged(verdict)}`),
    ...(result.remarks ?? [])
  ]
}

export const render = (result: ScenarioResult): string => [`\n${result.name}: ${result.title}`, ...figures(result).map((line) => `  ${line}`)].join("\n")
