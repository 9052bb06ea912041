import { assert, describe, it } from "@effect/vitest"
import {
  canMovePickup,
  decidedStatus,
  specificWordings,
  informationCodes,
  isFinalPickup,
  isVisiblePickup,
  needsInformationCode,
  pickupMovesFrom,
  pickupStatuses,
  pickupStatusWords,
  readPickupStatus,
  shipperMayCancel
} from "@waybill/core/pickups"
import { readFileSync } from "node:fs"
import { listOf, oneOf } from "../../arbitraries.ts"

const page = readFileSync(new URL("../../../../../docs/areas/pickups.md", import.meta.url), "utf8")

/** Names in the diagram. */
const drawnName = (status: string): string => status.replaceAll(/[ -]/g, "")

describe("pickup statuses", () => {
  it("equal the diagram in docs/areas/pickups.md", () => {
    const drawn = Array.from(page.matchAll(/^ {4}(\[\*\]|\w+) --> (\w+)$/gm), ([, from, to]) => `${from} --> ${to}`)
    const known = [
      ...Object.values(decidedStatus).map((to) => `[*] --> ${drawnName(to)}`),
      ...pickupStatuses.flatMap((from) => pickupMovesFrom(from).map((to) => `${drawnName(from)} --> ${drawnName(to)}`))
    ]
    assert.deepStrictEqual(drawn.toSorted(), known.toSorted())
  })

  it("are all in the page's table, with visibility and cancellation", () => {
    const listed = Array.from(page.matchAll(/^\| `([^`]+)` \|[^|]*\| (yes|no) \| (yes|no) \| (yes|no) \|$/gm), ([, status, ...facts]) => [status, ...facts])
    const yes = (fact: boolean) => fact ? "yes" : "no"
    assert.deepStrictEqual(
      listed,
      pickupStatuses.map((status) => [status, yes(isVisiblePickup(status)), yes(shipperMayCancel(status)), yes(needsInformationCode(status))])
    )
  })

  it("have every published wording and code on the page", () => {
    for (const [words, status] of Object.entries(specificWordings)) assert.include(page, `| \`${words}\` | \`${status}\` |`)
    const listed = Array.from(page.matchAll(/^\| (\d{3}) \| ([^|]+) \| ([^|]+) \|$/gm), ([, code, description, subCodes]) => [code, description, subCodes])
    assert.deepStrictEqual(
      listed,
      Object.entries(informationCodes).map(([code, { description, subCodes }]) => [
        code,
        description,
        Object.entries(subCodes).map(([subCode, words]) => `${subCode} ${words}`).join("; ")
      ])
    )
  })

  it.prop("never change after Cancelled, Departed or Rejected", [oneOf(Object.values(decidedStatus)), listOf(oneOf(pickupStatuses), 0, 30)], ([first, targets]) => {
    let status: (typeof pickupStatuses)[number] = first
    for (const target of targets) {
      const before = status
      if (canMovePickup(status, target)) status = target
      if (["Cancelled", "Departed", "Rejected"].includes(before)) assert.strictEqual(status, before)
    }
  })

  it("permit cancellation unless they are final", () => {
    for (const status of pickupStatuses) assert.strictEqual(canMovePickup(status, "Cancelled"), !isFinalPickup(status), status)
    assert.deepStrictEqual(pickupStatuses.filter(isFinalPickup), ["Rejected", "Departed", "Cancelled"])
  })

  it.prop("are accepted in any case, with or without blanks and hyphens (SPEC-GAP-C11)", [oneOf(pickupStatusWords), oneOf(["", " ", "-", "_"]), oneOf([true, false])], ([words, between, upper]) => {
    const spelled = words.split(/[ -]/).join(between)
    const read = readPickupStatus(upper ? spelled.toUpperCase() : spelled.toLowerCase())
    assert.strictEqual(read?.words, words)
    assert.strictEqual(read?.status, specificWordings[words] ?? words)
  })

  it("are accepted in both English spellings, and other text is refused", () => {
    assert.strictEqual(readPickupStatus("Canceled")?.status, "Cancelled")
    assert.strictEqual(readPickupStatus("pickup canceled")?.words, "Pickup Cancelled")
    for (const text of ["", "Delivered", "Accept", "constructor", "__proto__"]) assert.isUndefined(readPickupStatus(text), text)
  })
})
