import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { sftpMailbox } from "@waybill/edi/sftp"
import { directoryTransport, exchangeFiles } from "@waybill/edi/transports"
import { directory } from "../Directory.ts"
import { type HostileOptions, hostileServer } from "./HostileServer.ts"

const password = "hunter2-hunter2"

const mailboxOf = async (options: Partial<HostileOptions>, more: object = {}) => {
  const server = await hostileServer({ password, files: { "a.edi": "ISA" }, ...options })
  const mailbox = sftpMailbox({ host: "127.0.0.1", port: server.port, user: "waybill", hostKeys: [server.fingerprint], password, receiveFrom: "/out", quietMillis: 0, timeoutMillis: 5_000, ...more })
  return { server, mailbox }
}

const exchange = async (options: Partial<HostileOptions>, more: object = {}) => {
  const parent = directory("partner")
  const path = join(parent, "partner")
  const { mailbox, server } = await mailboxOf(options, more)
  const counts = await exchangeFiles({ mailbox, spool: directoryTransport(path) }).catch((error: unknown) => error)
  return { parent, path, server, counts }
}

describe("an SFTP server that is no OpenSSH", { timeout: 30_000 }, () => {
  it("gets the password by its method, or as the answer to its one question", async () => {
    for (const asks of [false, true]) {
      const { counts, path } = await exchange({ asks })
      expect(counts).toEqual({ received: 1, sent: 0 })
      expect(readFileSync(join(path, "inbox/a.edi"), "utf8")).toBe("ISA")
    }
  })

  it("gets no password when its key is not the known one", async () => {
    const { counts, server } = await exchange({}, { hostKeys: [`SHA256:${"A".repeat(43)}`] })
    expect(counts).toMatchObject({ problem: "host_key" })
    expect(server.offered).toEqual([])
  })

  it("cannot place files outside of the partner's folder, nor hide them in it", async () => {
    const files = { "../escape.edi": "x", "..": "x", "a/b.edi": "x", "a\\b.edi": "x", ".profile": "x", "a\u0000.edi": "x", "a\n.edi": "x", [`${"n".repeat(250)}`]: "x", "": "x", "good.edi": "ISA" }
    const { counts, parent, path, server } = await exchange({ files })
    expect(counts).toEqual({ received: 1, sent: 0 })
    expect(server.opened).toEqual(["/out/good.edi"])
    expect([readdirSync(parent), readdirSync(path).sort(), readdirSync(join(path, "inbox"))]).toEqual([["partner"], ["inbox", "outbox", "sending"], ["good.edi"]])
  })

  it("that lists entries as long as packets does not fill the memory", async () => {
    const { mailbox, server } = await mailboxOf({ isEndless: true, longname: "n".repeat(200_000) })
    await expect(mailbox.waiting(50)).rejects.toThrow("the listing has more than 16777216 characters")
    await mailbox.close()
    expect(server.lists()).toBe(84)
  })

  it("that lists a folder without an end is not listened to without an end", async () => {
    const files = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${index}.edi`, "ISA"]))
    const { mailbox, server } = await mailboxOf({ files, isEndless: true })
    const found = await mailbox.waiting(50)
    await mailbox.close()
    expect(new Set(found.map(({ name }) => name)).size).toBe(50)
    // ten thousand entries, at both looks
    expect(server.lists()).toBe(40)
  })
})
