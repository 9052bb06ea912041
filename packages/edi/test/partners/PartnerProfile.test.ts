import { describe, expect, it } from "vitest"
import { readdirSync, readFileSync } from "node:fs"
import { InvalidProfile, PartnerProfile, partnerProfile } from "@waybill/edi"
import { SchemaAST } from "effect"

const folder = new URL("../../profiles/", import.meta.url)

describe("sample profiles", () => {
  it.each(readdirSync(folder))("%s is a valid profile, named like its file", (file) => {
    expect(`${partnerProfile(JSON.parse(readFileSync(new URL(file, folder), "utf8"))).partner}.json`).toBe(file)
  })
})

it("has the members that docs/edi.md explains", () => {
  const page = readFileSync(new URL("../../../../docs/edi.md", import.meta.url), "utf8")
  const [, section = ""] = page.split("## Partner profiles\n")
  const explained = Array.from(section.split("\n## ")[0]!.matchAll(/^\| (`[^|]+`) \|/gm), ([, names]) => names!.split(", ").map((name) => name.replaceAll("`", ""))).flat()
  const membersOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
    SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
  const nested = ["times", "codes"]
  const members = SchemaAST.isObjects(PartnerProfile.ast)
    ? PartnerProfile.ast.propertySignatures.flatMap(({ name, type }) => nested.includes(String(name)) ? membersOf(type).map((inner) => `${String(name)}.${inner}`) : [String(name)])
    : []
  // ISX is part of the delimiters
  expect(explained.filter((name) => name !== "release").toSorted()).toEqual(members.toSorted())
})

it("names every fault of a profile", () => {
  const faults = (json: unknown) => {
    try {
      partnerProfile(json)
      return []
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidProfile)
      return (error as InvalidProfile).faults.map(({ code, pointer }) => `${pointer} ${code}`)
    }
  }
  const good = { partner: "acme", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214"] }
  expect(faults(good)).toEqual([])
  expect(faults({})).toEqual(["/partner required", "/them required", "/us required", "/version required", "/sets required"])
  expect(faults({ ...good, them: { qualifier: "2", id: "A".repeat(16) } })).toEqual(["/them/qualifier invalid", "/them/id invalid"])
  expect(faults({ ...good, times: { zone: "Chicago" } })).toEqual(["/times/zone invalid"])
  expect(faults({ ...good, times: { zone: "America/Nowhere" } })).toEqual(["/times/zone invalid"])
  expect(faults({ ...good, times: { write: "local" } })).toEqual([" invalid"])
  expect(faults({ ...good, delimiters: { element: "A", component: ">", segment: "~" } })).toEqual(["/delimiters/element invalid"])
  for (const delimiters of [{ element: "*", component: "*", segment: "~" }, { element: "^", component: ">", segment: "~" }]) expect(faults({ ...good, version: "005010", delimiters })).toEqual([" invalid"])
  expect(faults({ ...good, delimiters: { element: "^", component: ">", segment: "~" } })).toEqual([])
  expect(faults({ ...good, codes: { statusIn: { X6: "MOVING" } } })).toEqual(["/codes/statusIn/X6 invalid"])
  expect(faults({ ...good, zone: "America/Chicago" })).toEqual(["/zone unknown_field"])
})

it("reads the transports of docs/edi.md", () => {
  const page = readFileSync(new URL("../../../../docs/edi.md", import.meta.url), "utf8")
  const transports = Array.from(page.matchAll(/```json\n([^]*?)```/gu), ([, json]) => JSON.parse(json!) as object)
  const profile = { partner: "acme", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214"] }
  expect(transports.map((transport) => partnerProfile({ ...profile, transport }).transport?.kind)).toEqual(["sftp", "http"])
})

it("names every fault of a transport, and takes secrets by reference only", () => {
  const good = { partner: "acme", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214"] }
  const sftp = { kind: "sftp", host: "sftp.example.com", user: "waybill", hostKeys: [`SHA256:${"A".repeat(43)}`], password: { env: "WAYBILL_EDI_SECRET_ACME" }, sendTo: "/in" }
  const faults = (transport: unknown) => {
    try {
      partnerProfile(JSON.parse(JSON.stringify({ ...good, transport })))
      return []
    } catch (error) {
      return (error as InvalidProfile).faults.map(({ detail, pointer }) => `${pointer}: ${detail}`)
    }
  }
  expect(faults(sftp)).toEqual([])
  expect(faults({ ...sftp, password: undefined, privateKey: { file: "key" } })).toEqual([])
  expect(faults({ kind: "http", receive: true })).toEqual([])
  expect(faults({ kind: "ftp" })).toEqual(["/transport: A transport is of the kind sftp or http."])
  expect(faults({ ...sftp, password: "hunter2" })).toEqual(["/transport/password: A secret is named by { \"env\": \"WAYBILL_EDI_SECRET_…\" } or { \"file\": \"…\" }."])
  expect(faults({ ...sftp, password: { env: "WAYBILL_DATABASE_URL" } })).toContain("/transport/password/env: The name of a variable with a secret of a partner begins with WAYBILL_EDI_SECRET_.")
  expect(faults({ ...sftp, hostKeys: [] })).toEqual(["/transport/hostKeys: Name the fingerprint of the host's key."])
  expect(faults({ ...sftp, password: undefined })).toEqual(["/transport: An SFTP transport has a privateKey or a password."])
  expect(faults({ ...sftp, sendTo: undefined })).toEqual(["/transport: An SFTP transport has receiveFrom, sendTo or both."])
  expect(faults({ kind: "http" })).toEqual(["/transport: An HTTP transport has \"receive\": true, sendTo or both."])
  expect(faults({ kind: "http", sendTo: "https://user:password@example.com/" })).toEqual(["/transport/sendTo: sendTo is an https address without a user."])
})
