import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fs, { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { HostsFile } from "../../src/webhook-sender/HostsFile.ts"
import { NameResolver } from "../../src/webhook-sender/NameResolver.ts"
import { makeDnsServer } from "./DnsServer.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "waybill-hosts-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const hosts = `
# comment
127.0.0.1  localhost
::1        localhost ip6-localhost
10.0.0.5   Receiver.internal. receiver  # both
10.0.0.5   receiver
\tfd00::5  receiver
not-an-address  broken
10.0.0.6
`

describe("HostsFile", () => {
  it.effect("returns all addresses of a name, once each, in the file's order", Effect.fnUntraced(function*() {
    const path = join(yield* folder, "hosts")
    writeFileSync(path, hosts.replaceAll("\n", "\r\n"))
    const file = new HostsFile(path)
    assert.deepStrictEqual(file.addressesOf("localhost"), ["127.0.0.1", "::1"])
    assert.deepStrictEqual(file.addressesOf("receiver"), ["10.0.0.5", "fd00::5"])
    assert.deepStrictEqual(file.addressesOf("receiver.internal"), ["10.0.0.5"])
    for (const name of ["broken", "comment", "", "10.0.0.6", "__proto__"]) assert.deepStrictEqual(file.addressesOf(name), [], name)
  }))

  it.effect("is read again when it changes, appears or disappears", Effect.fnUntraced(function*() {
    const path = join(yield* folder, "hosts")
    const file = new HostsFile(path)
    assert.deepStrictEqual(file.addressesOf("receiver"), [])
    writeFileSync(path, "10.0.0.1 receiver")
    assert.deepStrictEqual(file.addressesOf("receiver"), ["10.0.0.1"])
    writeFileSync(path, "10.0.0.1 receiver\n10.0.0.2 receiver")
    assert.deepStrictEqual(file.addressesOf("receiver"), ["10.0.0.1", "10.0.0.2"])
    rmSync(path)
    assert.deepStrictEqual(file.addressesOf("receiver"), [])
  }))

  it.effect("is read again after it could not be read", Effect.fnUntraced(function*() {
    const path = join(yield* folder, "hosts")
    writeFileSync(path, "10.0.0.1 receiver")
    const file = new HostsFile(path)
    const read = vi.spyOn(fs, "readFileSync").mockImplementation(() => {
      throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" })
    })
    syncBuiltinESMExports()
    assert.deepStrictEqual(file.addressesOf("receiver"), [])
    read.mockRestore()
    syncBuiltinESMExports()
    assert.deepStrictEqual(file.addressesOf("receiver"), ["10.0.0.1"])
  }))

  it.live("comes before DNS", Effect.fnUntraced(function*() {
    const hostsFile = join(yield* folder, "hosts")
    writeFileSync(hostsFile, "10.0.0.1 receiver.example")
    const server = yield* makeDnsServer({ "receiver.example": { a: ["192.0.2.1"] } })
    const names = new NameResolver({ hostsFile, servers: [server.address] })
    assert.deepStrictEqual(yield* Effect.promise(() => names.resolve("receiver.example")), ["10.0.0.1"])
    rmSync(hostsFile)
    assert.deepStrictEqual(yield* Effect.promise(() => names.resolve("receiver.example")), ["192.0.2.1"])
  }))
})
