import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { checkSftp, sftpMailbox, type SftpOptions } from "@waybill/edi/sftp"
import { directoryTransport, type EdiMailbox, type ExchangedFile, exchangeFiles, type FailedFile, type SkippedEntry, MailboxError } from "@waybill/edi/transports"
import { directory } from "../Directory.ts"
import { newKey, noSshd, type Sshd, startSshd, wireTo } from "./Sshd.ts"

const optionsFor = ({ fingerprint, port, privateKey, root, user }: Sshd, more: Partial<SftpOptions> = {}): SftpOptions => ({
  host: "127.0.0.1",
  port,
  user,
  privateKey,
  hostKeys: [fingerprint],
  receiveFrom: join(root, "from-partner"),
  moveTo: join(root, "taken"),
  sendTo: join(root, "to-partner"),
  quietMillis: 0,
  ...more
})

const exchange = async (path: string, mailbox: EdiMailbox) => {
  const files: Array<ExchangedFile | FailedFile> = []
  const counts = await exchangeFiles({ mailbox, spool: directoryTransport(path), onFile: (file) => files.push(file) })
  return { ...counts, failed: files.flatMap((file) => "error" in file ? [`${file.name}: ${(file.error as Error).message}`] : []) }
}

const names = (path: string, folder: string) => readdirSync(join(path, folder)).sort()

const problemOf = async (work: Promise<unknown>) => {
  const error = await work.then(() => undefined, (failure: unknown) => failure)
  expect(error).toBeInstanceOf(MailboxError)
  return error as MailboxError
}

const large = Buffer.alloc(1_000_000, "ISA*00~")

describe.skipIf(noSshd !== undefined)(`files on an SFTP server${noSshd ?? ""}`, { timeout: 30_000 }, () => {
  it("are fetched and moved away, and files for the partner are put there", async () => {
    const sshd = await startSshd()
    const path = directory("inbox", "outbox")
    writeFileSync(join(sshd.root, "from-partner/a.edi"), large)
    writeFileSync(join(sshd.root, "from-partner/b.edi"), "b")
    writeFileSync(join(path, "outbox/acme-1.edi"), large)
    const mailbox = sftpMailbox(optionsFor(sshd))
    expect(await exchange(path, mailbox)).toEqual({ received: 2, sent: 1, failed: [] })
    expect([names(path, "inbox"), names(path, "outbox"), names(path, "sending"), names(path, "sent")]).toEqual([["a.edi", "b.edi"], [], [], ["acme-1.edi"]])
    expect([names(sshd.root, "from-partner"), names(sshd.root, "taken"), names(sshd.root, "to-partner")]).toEqual([[], ["a.edi", "b.edi"], ["acme-1.edi"]])
    expect(readFileSync(join(path, "inbox/a.edi")).equals(large)).toBe(true)
    expect(readFileSync(join(sshd.root, "to-partner/acme-1.edi")).equals(large)).toBe(true)
    // the mailbox can be used again, and a name, too
    writeFileSync(join(sshd.root, "from-partner/a.edi"), "another")
    expect(await exchange(path, mailbox)).toEqual({ received: 1, sent: 0, failed: [] })
    expect(names(path, "inbox")).toEqual(["a.edi", "a.edi.1", "b.edi"])
    expect(names(sshd.root, "taken")).toHaveLength(3)
  })

  it("are removed after they were fetched where no folder is named for them", async () => {
    const sshd = await startSshd()
    const path = directory("inbox", "outbox")
    writeFileSync(join(sshd.root, "from-partner/a.edi"), "a")
    expect(await exchange(path, sftpMailbox(optionsFor(sshd, { moveTo: undefined })))).toMatchObject({ received: 1 })
    expect(names(sshd.root, "from-partner")).toEqual([])
  })

  it("wait while they are written, and are left alone where their name says that they are not complete", async () => {
    const sshd = await startSshd()
    const folder = join(sshd.root, "from-partner")
    for (const name of ["growing.edi", "quiet.edi", ".hidden.edi", "part.edi.filepart", "too-large.edi"]) writeFileSync(join(folder, name), name === "too-large.edi" ? large : "a")
    writeFileSync(join(folder, "back\\slash.edi"), "a")
    mkdirSync(join(folder, "folder.edi"))
    mkdirSync(join(folder, "taken"))
    symlinkSync(join(folder, "quiet.edi"), join(folder, "link.edi"))
    const seen: Array<ReadonlyArray<SkippedEntry>> = []
    const options = optionsFor(sshd, { moveTo: join(folder, "taken"), quietMillis: 400, maxFileBytes: 999_999, onSkipped: (entries) => seen.push(entries) })
    const mailbox = sftpMailbox(options)
    const found = mailbox.waiting(10)
    for (let size = 2; await Promise.race([found.then(() => false), new Promise((resolve) => setTimeout(resolve, 20, true))]); size++) writeFileSync(join(folder, "growing.edi"), "a".repeat(size))
    expect(await found).toEqual([{ name: "quiet.edi", bytes: 1 }])
    expect(await mailbox.waiting(1)).toHaveLength(1)
    await mailbox.close()
    const reasons = {
      "back\\slash.edi": "Its name has more than 200 bytes, a slash, a backslash or a control character. Ask the partner for another name.",
      "folder.edi": "It is a directory. Ask the partner to put its files into the folder itself.",
      "link.edi": "It is a link. Ask the partner to put the file itself in its place.",
      "too-large.edi": "It has 1000000 bytes, and at most 999999 are fetched. Raise maxFileMegabytes in the partner profile, or ask the partner for smaller files."
    }
    const skipped = Object.entries(reasons).map(([name, reason]) => ({ name, reason }))
    expect(seen).toEqual([skipped, skipped])
    const checked = await checkSftp(options)
    expect(checked).toContain(`${folder}: files that can be fetched: 2.`)
    expect(checked.filter((line) => line.includes("is never fetched"))).toEqual(skipped.map(({ name, reason }) => `${join(folder, name)} is never fetched: ${reason}`))
  })

  it("are refused from a host with another key, before anything is sent to it", async () => {
    const sshd = await startSshd()
    const hostKeys = [`SHA256:${"A".repeat(43)}`]
    const error = await problemOf(exchange(directory("inbox", "outbox"), sftpMailbox(optionsFor(sshd, { hostKeys, password: "not to be told" }))))
    expect(error.problem).toBe("host_key")
    expect(error.message).toContain(sshd.fingerprint)
    // any of several keys, because partners replace theirs
    expect(await exchange(directory("inbox", "outbox"), sftpMailbox(optionsFor(sshd, { hostKeys: [...hostKeys, sshd.fingerprint] })))).toMatchObject({ received: 0 })
  })

  it("are refused without a valid password or key, and the error has neither", async () => {
    const sshd = await startSshd()
    const wrongPassword = await problemOf(exchange(directory("inbox", "outbox"), sftpMailbox(optionsFor(sshd, { privateKey: undefined, password: "hunter2-hunter2" }))))
    const wrongKey = await problemOf(exchange(directory("inbox", "outbox"), sftpMailbox(optionsFor(sshd, { privateKey: newKey() }))))
    const noKey = await problemOf(exchange(directory("inbox", "outbox"), sftpMailbox(optionsFor(sshd, { privateKey: "hunter2-hunter2" }))))
    expect([wrongPassword.problem, wrongKey.problem, noKey.problem]).toEqual(["authentication", "authentication", "settings"])
    for (const error of [wrongPassword, wrongKey, noKey]) expect(JSON.stringify([error, error.message, error.stack, error.cause])).not.toContain("hunter2")
  })

  it("are exchanged again after the connection was cut in the middle of an upload, and the partner sees no half file", async () => {
    const sshd = await startSshd()
    const path = directory("inbox", "outbox")
    const wire = await wireTo(sshd.port)
    writeFileSync(join(path, "outbox/acme-1.edi"), large)
    const mailbox = sftpMailbox(optionsFor(sshd, { port: wire.port }))
    wire.fault = { after: 500_000, kind: "cut" }
    expect((await problemOf(exchange(path, mailbox))).problem).toBe("connection")
    expect(names(sshd.root, "to-partner")).toEqual([".acme-1.edi.tmp"])
    expect([names(path, "outbox"), names(path, "sending")]).toEqual([["acme-1.edi"], []])
    wire.fault = undefined
    expect(await exchange(path, mailbox)).toEqual({ received: 0, sent: 1, failed: [] })
    expect(names(sshd.root, "to-partner")).toEqual(["acme-1.edi"])
    expect(readFileSync(join(sshd.root, "to-partner/acme-1.edi")).equals(large)).toBe(true)
  })

  it("are exchanged again after the connection was cut in the middle of a download, and no half file is read", async () => {
    const sshd = await startSshd()
    const path = directory("inbox", "outbox")
    const wire = await wireTo(sshd.port)
    writeFileSync(join(sshd.root, "from-partner/a.edi"), large)
    const mailbox = sftpMailbox(optionsFor(sshd, { port: wire.port }))
    wire.fault = { after: 500_000, kind: "cut" }
    expect((await problemOf(exchange(path, mailbox))).problem).toBe("connection")
    expect([names(path, "inbox"), names(sshd.root, "from-partner")]).toEqual([[], ["a.edi"]])
    wire.fault = undefined
    expect(await exchange(path, mailbox)).toMatchObject({ received: 1 })
    expect(readFileSync(join(path, "inbox/a.edi")).equals(large)).toBe(true)
  })

  it("are not waited for without an end when the server hangs, in the middle of a file or before it says anything", async () => {
    const sshd = await startSshd()
    const path = directory("inbox", "outbox")
    const wire = await wireTo(sshd.port)
    writeFileSync(join(sshd.root, "from-partner/a.edi"), large)
    const mailbox = sftpMailbox(optionsFor(sshd, { port: wire.port, timeoutMillis: 2_000 }))
    for (const after of [0, 500_000]) {
      wire.fault = { after, kind: "hang" }
      expect([(await problemOf(exchange(path, mailbox))).problem, names(path, "inbox")]).toEqual(["timeout", []])
    }
    const slow = sftpMailbox(optionsFor(sshd, { port: wire.port, deadlineMillis: 1_000 }))
    expect(await problemOf(exchange(path, slow))).toMatchObject({ problem: "timeout", message: expect.stringContaining("longer than 1 s") })
  })

  it("that the server does not let us take away are fetched once", async () => {
    const sshd = await startSshd()
    const path = directory("inbox", "outbox")
    writeFileSync(join(sshd.root, "from-partner/a.edi"), "a")
    // a file where the folder should be
    writeFileSync(join(sshd.root, "taken"), "")
    const mailbox = sftpMailbox(optionsFor(sshd))
    expect((await exchange(path, mailbox)).failed).toEqual([expect.stringMatching(/^a\.edi: sftp:.* refused: rename/u)])
    expect(await exchange(path, mailbox)).toEqual({ received: 0, sent: 0, failed: [] })
    expect(names(path, "inbox")).toEqual(["a.edi"])
    // another file of that name is a new one
    writeFileSync(join(sshd.root, "from-partner/a.edi"), "another")
    await exchange(path, mailbox)
    expect(names(path, "inbox")).toEqual(["a.edi", "a.edi.1"])
  })

  it("stay where they are when they took the place of one that was fetched, and are fetched next", async () => {
    for (const moveTo of ["taken", undefined]) {
      const sshd = await startSshd()
      const path = directory("inbox", "outbox")
      const file = join(sshd.root, "from-partner/214.edi")
      writeFileSync(file, "a")
      const mailbox = sftpMailbox(optionsFor(sshd, { moveTo: moveTo === undefined ? undefined : join(sshd.root, moveTo) }))
      const spool = directoryTransport(path)
      const replacing = { ...spool, arrive: (...arriving: Parameters<typeof spool.arrive>) => spool.arrive(...arriving).then(() => writeFileSync(file, "another")) }
      await exchangeFiles({ mailbox, spool: replacing })
      expect(readFileSync(file, "utf8")).toBe("another")
      expect(await exchange(path, mailbox)).toMatchObject({ received: 1 })
      expect(readFileSync(join(path, "inbox/214.edi.1"), "utf8")).toBe("another")
    }
  })

  it("are not sent twice when the answer to the last step was lost", async () => {
    const sshd = await startSshd()
    const path = directory("inbox", "outbox")
    writeFileSync(join(sshd.root, "to-partner/acme-1.edi"), "same")
    writeFileSync(join(sshd.root, "to-partner/acme-2.edi"), "another file")
    for (const name of ["acme-1.edi", "acme-2.edi"]) writeFileSync(join(path, "outbox", name), "same")
    const { failed, sent } = await exchange(path, sftpMailbox(optionsFor(sshd)))
    expect([sent, failed]).toEqual([1, [expect.stringContaining("acme-2.edi: ")]])
    expect(names(path, "outbox")).toEqual(["acme-2.edi"])
    expect(readFileSync(join(sshd.root, "to-partner/acme-2.edi"), "utf8")).toBe("another file")
  })

  it("are listed up to a limit", async () => {
    const sshd = await startSshd()
    for (let count = 0; count < 300; count++) writeFileSync(join(sshd.root, "from-partner", `${count}.edi`), "a")
    const mailbox = sftpMailbox(optionsFor(sshd))
    expect(await mailbox.waiting(50)).toHaveLength(50)
    await mailbox.close()
    expect(existsSync(join(sshd.root, "taken"))).toBe(false)
  })
})

