/** The table of the documentation, made from a mapping. */
import { elementName } from "../../src/x12/Segment.ts"
import { type Direction, isLoop, type Mapping, type Rule, type SegmentRule, type Where } from "../../src/mapping/Mapping.ts"
import { within } from "../../src/mapping/Members.ts"

/** A row of the table of a mapping in `docs/edi.md`. */
interface MappingRow {
  /** Such as `AT7-05, 06, 07`, with its loop in front. */
  readonly element: string
  readonly name: string
  /** Members, or empty. */
  readonly members: ReadonlyArray<string>
  readonly direction: Direction | "both"
  readonly since: string | undefined
  readonly note: string
  readonly lost: string
}

/** The table of a mapping: a row for each rule. */
export const rowsOf = (mapping: Mapping): ReadonlyArray<MappingRow> => rowsIn(mapping.rules, "", "", undefined)

/** Loops that were printed, by their rows; each next one with the same rows is a single row. */
type Printed = Map<string, string>

const rowsIn = (rules: ReadonlyArray<Rule>, loop: string, at: string, only: Direction | undefined, printed?: Printed): ReadonlyArray<MappingRow> =>
  rules.flatMap((rule) => {
    const direction = rule.only ?? only
    if (!isLoop(rule)) return rowsOfSegment(rule, loop, rule.list === undefined ? at : within(at, `${rule.list}[]`), direction)
    const inside = rule.list === undefined ? within(at, rule.member ?? "") : within(at, `${rule.list}[]`)
    const own = `${loop}${rule.loop}${codes(rule.where)}`
    const content = JSON.stringify([rule.loop, rule.where, rowsIn(rule.content, "", "", direction)])
    const same = printed?.get(content)
    if (same !== undefined) return [{ element: own, name: rule.name.toLowerCase(), members: [inside], direction: direction ?? "both", since: undefined, note: `as ${same}`, lost: "" }]
    printed?.set(content, own)
    return rowsIn(rule.content, `${own} › `, inside, direction, printed)
  })

const rowsOfSegment = (rule: SegmentRule, loop: string, at: string, only: Direction | undefined): ReadonlyArray<MappingRow> =>
  rule.elements.map(({ codec, elements, lost, members, name, since, ...element }) => {
    const [first = 1, ...others] = elements
    return {
      element: `${loop === `${rule.segment} › ` ? "" : loop}${elementName(rule.segment, first)}${others.map((number) => `, ${String(number).padStart(2, "0")}`).join("")}${codes(rule.where)}`,
      name,
      members: members.map((path) => within(at, path)),
      direction: element.only ?? only ?? "both",
      since,
      note: codec.note,
      lost: lost ?? ""
    }
  })

const codes = (where: Where | undefined): string => where === undefined ? "" : ` (${where.is.join(", ")})`

const arrows = { both: "↔", in: "→", out: "←" } as const

/** Markdown. Loops that are alike are written once. */
export const tableOf = (mapping: Mapping): string => {
  const lines = rowsIn(mapping.rules, "", "", undefined, new Map()).map(({ direction, element, lost, members, name, note, since }) => {
    const remarks = [note, since === undefined ? "" : `from ${since}`, lost === "" ? "" : `lost: ${lost}`].filter((each) => each !== "").join("; ")
    return `| ${element} | ${name} | ${arrows[direction]} | ${members.map((path) => `\`${path}\``).join(", ")} | ${remarks.replaceAll("|", "\\|")} |`
  })
  const lost = Object.entries(mapping.notWritten).map(([path, reason]) => `| | | | \`${path}\` | not written: ${reason} |`)
  return ["| element | what it is | | member | how, and what is lost |", "|---|---|---|---|---|", ...lines, ...lost].join("\n")
}
