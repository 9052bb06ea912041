import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { noSshd, startSshd, transportTo } from "../edi/Sshd.ts"
import { directory } from "../program/Program.ts"
import { jsonLines, run } from "./Cli.ts"

const profile = new URL("../../../edi/profiles/ltl-carrier.json", import.meta.url).pathname

const file = (...statuses: ReadonlyArray<string>) => {
  const path = join(directory(), "partner.edi")
  const sets = statuses.map((status, index) => `ST*214*000${index + 1}~B10*0123456789**ABCD~LX*1~${status}~MAN*L~SE*6*000${index + 1}~`)
  writeFileSync(path, `ISA*00*          *00*          *02*ABCD           *ZZ*WAYBILL        *261120*1415*U*00401*000000007*0*P*>~GS*QM*ABCD*WAYBILL*20261120*1415*7*X*004010~${sets.join("")}GE*${sets.length}*7~IEA*1*000000007~`)
  return path
}

describe("edi check", { timeout: 60_000 }, () => {
  it("prints what would become of each set, and the acknowledgement", async () => {
    const { code, stdout } = await run(["edi", "check", profile, file("AT7*X4*NS***20261120*0815*CT", "AT7*D1*NS***20261340*0815*CT"), "--kept", "--acknowledgement"])
    expect(code).toBe(1)
    for (const line of [
      "accepted   214 0001 of group 7, 1 record, 1 element without a place",
      "    MAN-01 at segment 5 has no place: \"L\"",
      "refused    214 0002 of group 7",
      "    AT7-05 at segment 4: AT7-05 is a date as CCYYMMDD. (\"20261340\")",
      "1 interchange: 1 accepted, 0 duplicate, 1 refused",
      "AK4*5**8*20261340~"
    ]) expect(stdout).toContain(line)
  })

  it("succeeds for a file without faults, and prints JSON", async () => {
    const { code, stdout } = await run(["edi", "check", profile, file("AT7*X4*NS***20261120*0815*CT"), "--json"])
    expect(code).toBe(0)
    expect(jsonLines(stdout)).toMatchObject([{ outcome: "accepted", records: [{ segment: "AT7", position: 4 }] }, { accepted: 1, refused: 0 }])
  })

  it("prints what an order would become", async () => {
    const shipper = join(directory(), "profile.json")
    writeFileSync(shipper, JSON.stringify({ ...JSON.parse(readFileSync(profile, "utf8")) as object, sets: ["216"], linearFeet: 12 }))
    const path = join(directory(), "partner.edi")
    const set = "ST*216*0001~PUN*ABCD*20261120*0800*PU-7~TEM*2**L*1250~N1*SF*Closets Inc.~N3*12 Dock Road~N4*Chicago*IL*60608~SE*7*0001~"
    writeFileSync(path, `ISA*00*          *00*          *02*ABCD           *ZZ*WAYBILL        *261120*1415*U*00401*000000007*0*P*>~GS*PU*ABCD*WAYBILL*20261120*1415*7*X*004010~${set}GE*1*7~IEA*1*000000007~`)
    const { code, stdout } = await run(["edi", "check", shipper, path, "--records"])
    expect([code, stdout]).toEqual([0, expect.stringContaining("\"grossPickupWeight\":1250")])
    const json = await run(["edi", "check", shipper, path, "--records", "--json"])
    expect(jsonLines(json.stdout)).toMatchObject([{ outcome: "accepted", items: [{ set: "216", shipmentNumber: "PU-7" }] }, { accepted: 1 }])
  })

  it("explains a profile that is none, and a file that is not there", async () => {
    const path = join(directory(), "profile.json")
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(profile, "utf8")) as object, version: "3040" }))
    expect(await run(["edi", "check", path, file("AT7*X4")])).toMatchObject({ code: 2, stderr: expect.stringContaining("/version: version is one of 004010, 005010, 008010.") })
    expect(await run(["edi", "check", profile, "/nowhere.edi"])).toMatchObject({ code: 1, stderr: expect.stringContaining("/nowhere.edi was not checked") })
  })

  it("says that a profile is valid, without a file", async () => {
    expect(await run(["edi", "check", profile])).toMatchObject({ code: 0, stdout: expect.stringContaining("is a valid profile of the partner ltl-carrier.") })
    expect(await run(["edi", "check", profile, "--records"])).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("need the partner's file.") })
  })

  it("explains that there is no transport to try, and which secret is missing", async () => {
    const folder = directory()
    const path = join(folder, "profile.json")
    expect(await run(["edi", "check", profile, "--connect"])).toMatchObject({ code: 2, stderr: expect.stringContaining("has no transport") })
    const transport = { kind: "sftp", host: "127.0.0.1", port: 1, user: "waybill", hostKeys: [`SHA256:${"A".repeat(43)}`], password: { file: "password" }, sendTo: "/in" }
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(profile, "utf8")) as object, transport }))
    expect(await run(["edi", "check", path, "--connect"])).toMatchObject({ code: 1, stderr: expect.stringMatching(/The transport of .* does not work: The secret .*password cannot be read/u) })
    writeFileSync(join(folder, "password"), "hunter2-hunter2\n")
    const refused = await run(["edi", "check", path, "--connect"])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("sftp://127.0.0.1:1") })
    expect(JSON.stringify(refused)).not.toContain("hunter2")
  })

  it.skipIf(noSshd !== undefined)(`connects to the partner's server, and changes nothing there${noSshd ?? ""}`, async () => {
    const sshd = await startSshd()
    const folder = directory()
    const path = join(folder, "profile.json")
    const check = (more: object) => {
      writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(profile, "utf8")) as object, transport: { ...transportTo(sshd), ...more } }))
      return run(["edi", "check", path, "--connect"])
    }
    writeFileSync(join(folder, "key"), sshd.privateKey)
    writeFileSync(join(sshd.root, "from-partner/a.edi"), "a")
    const { code, stdout } = await check({})
    expect(code).toBe(0)
    for (const line of [`${sshd.user} is logged in.`, "/from-partner: files that can be fetched: 1.", "/taken: does not exist, and is created with the first file.", "/to-partner: exists."]) expect(stdout).toContain(line)
    expect(readdirSync(join(sshd.root, "from-partner"))).toEqual(["a.edi"])
    // the partner's key, for a profile that does not have it yet
    expect(await check({ hostKeys: [`SHA256:${"A".repeat(43)}`] })).toMatchObject({ code: 1, stderr: expect.stringContaining(sshd.fingerprint) })
    expect(await check({ sendTo: "/nowhere" })).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no folder /nowhere.") })
  })
})
