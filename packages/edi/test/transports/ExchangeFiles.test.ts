import { readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { directoryTransport, type EdiMailbox, type ExchangedFile, exchangeFiles, type FailedFile, httpMailbox, type HttpAnswer, type HttpPost, MailboxError } from "@waybill/edi/transports"
import { directory } from "../Directory.ts"

const spoolOf = (outbox: Readonly<Record<string, string>> = {}) => {
  const path = directory("inbox", "outbox")
  for (const [name, text] of Object.entries(outbox)) writeFileSync(join(path, "outbox", name), text)
  return path
}

const names = (path: string, folder: string) => readdirSync(join(path, folder)).sort()

const textOf = async (content: AsyncIterable<Uint8Array>) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** A mailbox in memory. */
const mailboxOf = (waiting: Readonly<Record<string, string>> = {}, more: Partial<EdiMailbox> = {}) => {
  const files = new Map(Object.entries(waiting))
  const sent: Array<string> = []
  const mailbox: EdiMailbox = {
    waiting: async (limit) => [...files].slice(0, limit).map(([name, text]) => ({ name, bytes: text.length })),
    read: async function*({ name }) {
      yield Buffer.from(files.get(name)!)
    },
    taken: async (name) => void files.delete(name),
    send: async (name, content) => void sent.push(`${name}: ${await textOf(content)}`),
    close: async () => {},
    ...more
  }
  return { mailbox, files, sent }
}

describe("an exchange of files", () => {
  it("sends each file once, also with several processes", async () => {
    const path = spoolOf({ "1.edi": "one", "2.edi": "two", "3.edi": "three" })
    const { mailbox, sent } = mailboxOf()
    const counts = await Promise.all(Array.from({ length: 4 }, () => exchangeFiles({ mailbox, spool: directoryTransport(path) })))
    expect(counts.reduce((sum, count) => sum + count.sent, 0)).toBe(3)
    expect(sent.sort()).toEqual(["1.edi: one", "2.edi: two", "3.edi: three"])
    expect([names(path, "outbox"), names(path, "sending"), names(path, "sent")]).toEqual([[], [], ["1.edi", "2.edi", "3.edi"]])
  })

  it("sends files and leaves those of the partner where they are when it is told to", async () => {
    const path = spoolOf({ "1.edi": "one" })
    const { files, mailbox, sent } = mailboxOf({ "a.edi": "a" })
    expect(await exchangeFiles({ mailbox, spool: directoryTransport(path), receive: false })).toEqual({ received: 0, sent: 1 })
    expect([sent, [...files.keys()], names(path, "inbox")]).toEqual([["1.edi: one"], ["a.edi"], []])
  })

  it("sends a file again whose process was killed, when no exchange can last that long", async () => {
    const path = spoolOf({ "1.edi": "one" })
    let now = Date.now()
    const spool = directoryTransport(path, { now: () => now })
    expect(await spool.claim("1.edi")).toBe(true)
    const { mailbox, sent } = mailboxOf()
    now += 14 * 60_000
    expect(await exchangeFiles({ mailbox, spool })).toEqual({ received: 0, sent: 0 })
    now += 2 * 60_000
    expect(await exchangeFiles({ mailbox, spool })).toEqual({ received: 0, sent: 1 })
    expect(sent).toEqual(["1.edi: one"])
  })

  it("goes on after a file that is refused, and ends when the partner cannot be reached", async () => {
    const path = spoolOf({ "1.edi": "one", "2.edi": "two" })
    const failed: Array<string> = []
    const refusing = mailboxOf({ "a.edi": "a" }, { send: async () => Promise.reject(new MailboxError("refused", "no")) })
    const onFile = (file: ExchangedFile | FailedFile) => void ("error" in file && failed.push(file.name))
    expect(await exchangeFiles({ mailbox: refusing.mailbox, spool: directoryTransport(path), onFile })).toEqual({ received: 1, sent: 0 })
    expect([failed.sort(), names(path, "outbox")]).toEqual([["1.edi", "2.edi"], ["1.edi", "2.edi"]])
    let tries = 0
    const away = mailboxOf({}, {
      send: async () => {
        tries += 1
        throw new MailboxError("connection", "away")
      }
    })
    await expect(exchangeFiles({ mailbox: away.mailbox, spool: directoryTransport(path), onFile })).rejects.toThrow("away")
    expect([tries, names(path, "outbox"), failed.length]).toEqual([1, ["1.edi", "2.edi"], 2])
  })

  it("exchanges as many files as its limit behind files that are refused again and again", async () => {
    const path = spoolOf({ "1-bad.edi": "", "2-bad.edi": "", "3.edi": "three", "4.edi": "four", "5.edi": "five" })
    const isBad = (name: string) => name.includes("bad")
    const refuse = () => {
      throw new MailboxError("refused", "no")
    }
    const waiting = { "a-bad.edi": "", "b-bad.edi": "", "c.edi": "c", "d.edi": "d", "e.edi": "e" }
    const { files, mailbox, sent } = mailboxOf(waiting, {
      read: async function*({ name }) {
        if (isBad(name)) refuse()
        yield Buffer.from(files.get(name)!)
      },
      send: async (name, content) => isBad(name) ? refuse() : void sent.push(`${name}: ${await textOf(content)}`)
    })
    expect(await exchangeFiles({ mailbox, spool: directoryTransport(path), limit: 2 })).toEqual({ received: 2, sent: 2 })
    expect([names(path, "inbox"), sent.sort()]).toEqual([["c.edi", "d.edi"], ["3.edi: three", "4.edi: four"]])
    expect(await exchangeFiles({ mailbox, spool: directoryTransport(path), limit: 2 })).toEqual({ received: 1, sent: 1 })
    expect([names(path, "outbox"), [...files.keys()]]).toEqual([["1-bad.edi", "2-bad.edi"], ["a-bad.edi", "b-bad.edi"]])
  })

  it("leaves no part of a file that could not be fetched, and removes what a killed process left", async () => {
    const path = spoolOf()
    const old = join(path, "inbox/.a.edi.0.tmp")
    writeFileSync(old, "left")
    utimesSync(old, 0, 0)
    const { mailbox } = mailboxOf({ "a.edi": "a" }, {
      read: async function*() {
        yield Buffer.from("half")
        throw new MailboxError("connection", "away")
      }
    })
    await expect(exchangeFiles({ mailbox, spool: directoryTransport(path) })).rejects.toThrow("away")
    expect(names(path, "inbox")).toEqual([])
  })

  it("ends between two files when it is told to, and closes the mailbox", async () => {
    const path = spoolOf({ "1.edi": "one", "2.edi": "two" })
    const stop = new AbortController()
    let closed = 0
    const { mailbox } = mailboxOf({}, { send: async () => stop.abort(), close: async () => void (closed += 1) })
    await expect(exchangeFiles({ mailbox, spool: directoryTransport(path), signal: stop.signal })).rejects.toThrow()
    expect(names(path, "sent")).toHaveLength(1)
    expect(names(path, "outbox")).toHaveLength(1)
    expect(closed).toBeGreaterThan(0)
  })
})

describe("a partner that takes files by HTTP", () => {
  const send = async (answer: HttpAnswer, text = "ISA") => {
    const posted: Array<HttpPost> = []
    const post = async (request: HttpPost) => {
      posted.push(request)
      return answer
    }
    const path = spoolOf({ "acme-1.edi": text })
    const mailbox = httpMailbox({ url: "https://edi.example.com/in?a=1", authorization: "Bearer hunter2", maxFileBytes: 10, post })
    const problem = await mailbox.send("acme-1.edi", directoryTransport(path).read("../outbox/acme-1.edi")).then(() => undefined, (error: MailboxError) => `${error.problem}: ${error.message}`)
    return { posted, problem }
  }

  it("gets one request for each file", async () => {
    const { posted, problem } = await send({ status: 202 })
    expect(problem).toBeUndefined()
    expect(posted).toEqual([{ url: "https://edi.example.com/in?a=1", headers: { "content-type": "application/edi-x12", "idempotency-key": "acme-1.edi", "authorization": "Bearer hunter2" }, body: Buffer.from("ISA"), timeoutMillis: 30_000 }])
  })

  it("refuses a file, or all of them, by its status", async () => {
    for (const [status, problem] of [[400, "refused"], [422, "refused"], [302, "refused"], [401, "authentication"], [403, "authentication"], [429, "connection"], [503, "connection"]] as const) {
      expect((await send({ status })).problem).toBe(`${problem}: edi.example.com answered ${status}.`)
    }
    expect((await send({ problem: "timeout", detail: "No answer." })).problem).toBe("timeout: edi.example.com: No answer.")
  })

  it("gets no file that is too large for a request", async () => {
    const { posted, problem } = await send({ status: 200 }, "ISA".repeat(10))
    expect([problem, posted]).toEqual(["refused: acme-1.edi has more than 10 bytes.", []])
  })

  it("has nothing that waits for us", async () => {
    expect(await httpMailbox({ url: "https://edi.example.com/", post: async () => ({ status: 200 }) }).waiting(1)).toEqual([])
  })
})
