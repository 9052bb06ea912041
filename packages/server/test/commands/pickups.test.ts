import { describe, expect, it } from "vitest"
import { eventually } from "../program/Program.ts"
import { leastOrder } from "../program/Tenant.ts"
import { jsonLines, run, runningServer } from "./Cli.ts"

describe("pickups on the command line", { timeout: 60_000 }, () => {
  it("lists those that wait, and answers the shipper's call with the operator's decision", async () => {
    const { env, operator, pickups } = await runningServer({ pickupDesk: { waitSeconds: 60 } })
    expect(await run(["pickups", "list", "--waiting"], { env })).toEqual({ code: 0, stdout: "", stderr: expect.stringContaining("No pickup waits for a decision.") })
    const times = { readyTime: `${leastOrder.readyDate}T08:00:00`, closeTime: `${leastOrder.readyDate}T16:00:00` }
    const orders = [1, 2].map(() => pickups.create({ ...leastOrder, ...times }))
    const waiting = await eventually(async () => {
      const { data } = await operator.listPickups("acme", { state: "waiting" })
      return data.length === 2 ? data : undefined
    }, { what: () => "two waiting pickups" })

    const listed = await run(["pickups", "list", "--waiting"], { env })
    expect(listed).toMatchObject({ code: 0, stderr: "" })
    expect(listed.stdout.trimEnd().split("\n").map((line) => line.split(/ {2,}/u).slice(0, 6))).toEqual(
      waiting.map(({ client, pickupId, waitingSince }) => [pickupId, "no number", "Call us", `order waits since ${waitingSince}`, client, `${leastOrder.readyDate} 08:00 to 16:00`])
    )
    const [first, second] = waiting.map(({ pickupId }) => pickupId) as [string, string]
    const accepted = await run(["pickups", "decide", first, "accept", "--number", "C-1", "--scac", "WAYB", "--carrier-name", "Waybill \u202eFreight"], { env })
    expect(accepted).toEqual({ code: 0, stdout: `${first} is Accepted, number C-1.\n`, stderr: "" })
    const rejected = await run(["pickups", "decide", second, "reject", "--message", "No truck is free.", "--json"], { env })
    expect(jsonLines(rejected.stdout)).toMatchObject([{ pickupId: second, carrierPickupNumber: null, status: "Rejected" }])
    const answers = (await Promise.all(orders)).flat()
    expect(new Set(answers.map((answer) => answer.pickupStatus))).toEqual(new Set(["Accept", "Reject"]))
    expect(answers.find(({ pickupStatus }) => pickupStatus === "Accept")).toMatchObject({ carrierPickupNumber: "C-1", scac: "WAYB" })

    const all = await run(["pickups", "list", "--limit", "1", "--json"], { env })
    expect(jsonLines(all.stdout)).toMatchObject([{ pickupId: second, waitingFor: null }])
    expect(all.stderr).toContain("there are more")
    expect((await run(["pickups", "decide", first, "reject"], { env })).code).toBe(4)
    for (const wrong of [["decide", first, "maybe"], ["decide", first, "reject", "--number", "C-2"], ["list", "--limit", "0"]]) {
      expect((await run(["pickups", ...wrong], { env })).code).toBe(2)
    }
  })
})
