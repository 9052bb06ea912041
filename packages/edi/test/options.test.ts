import { describe, expect, it } from "vitest"
import { sftpMailbox } from "../src/sftp/index.ts"
import { checkFile, partnerProfile, receiveFile, writeFile, writeInvoices, writePickupAnswers, writeTransitEvents } from "../src/index.ts"
import { directoryTransport, exchangeFiles, httpMailbox, outgoingLog, receiveWaiting, sendNew } from "../src/transports/index.ts"

describe("options of transports", () => {
  it.each<readonly [string, () => unknown, string]>([
    ["a misspelt option", () => directoryTransport("/tmp", { quietMilis: 5 } as never), "directoryTransport has no option quietMilis. Did you mean quietMillis?"],
    ["a negative time", () => directoryTransport("/tmp", { quietMillis: -1 }), "quietMillis of directoryTransport is a number of milliseconds from 0"],
    ["a size that is no number", () => httpMailbox({ url: "https://partner.example", post: async () => ({ status: 200 }), maxFileBytes: NaN }), "maxFileBytes of httpMailbox is a whole number from 1"],
    ["a post that is no function", () => httpMailbox({ url: "https://partner.example", post: "x" as never }), "post of httpMailbox is a function, and got a text"],
    ["a port that is none", () => sftpMailbox({ host: "partner.example", user: "us", hostKeys: [], port: 70_000 }), "port of sftpMailbox is a port, and got 70000"],
    ["a host key that is no list", () => sftpMailbox({ host: "partner.example", user: "us", hostKeys: "SHA256:x" as never }), "hostKeys of sftpMailbox is a list, and got a text"]
  ])("refuse %s at once", (_, open, message) => expect(open).toThrow(message))
})

describe("options of calls", () => {
  const partner = partnerProfile({ partner: "p", them: { qualifier: "02", id: "THEM" }, us: { qualifier: "ZZ", id: "US" }, version: "004010", sets: ["214"] })
  const unused = () => Promise.reject(new Error("It is called."))
  const transport = { ...directoryTransport("/nowhere"), waiting: unused, outgoing: unused, controlNumbers: unused }
  const mailbox = httpMailbox({ url: "https://partner.example", post: unused })
  const sending = { partner, transport, log: { ...outgoingLog("/nowhere"), last: unused }, next: unused, write: writeInvoices as never }
  it.each<readonly [string, () => Promise<unknown>, string]>([
    ["exchangeFiles", () => exchangeFiles({ mailbox, spool: transport, recieve: false } as never), "exchangeFiles has no option recieve. Did you mean receive?"],
    ["receiveWaiting", () => receiveWaiting({ partner, transport, handlers: {}, skip: ["a.edi"] as never }), "skip of receiveWaiting is a Set of names, and got a list"],
    ["sendNew", () => sendNew({ ...sending, limit: NaN }), "limit of sendNew is a whole number from 1"],
    ["checkFile", () => checkFile(partner, [], { onresult: () => {} } as never), "checkFile has no option onresult. Did you mean onResult?"],
    ["receiveFile", () => receiveFile({ partner, chunks: [], handlers: {}, controlNumber: unused } as never), "receiveFile has no option controlNumber. Did you mean controlNumbers?"]
  ])("of %s that are misspelt or of another type are refused before anything else", (_, call, message) => expect(call()).rejects.toThrow(message))

  it("of written files are refused before anything is written", () => {
    const options = { partner, controlNumber: 1, at: new Date() }
    expect(() => writeFile("IM", [], { ...options, controlNumber: 1e9 })).toThrow("controlNumber of writeFile is a whole number of at most nine digits, and got 1000000000.")
    expect(() => writeInvoices([{} as never], { ...options, patner: partner, partner: undefined } as never)).toThrow("writeInvoices has no option patner. Did you mean partner?")
    expect(() => writePickupAnswers([], { ...options, at: "2026-11-29T11:00:00Z" as never })).toThrow("at of writePickupAnswers is a valid Date, and got a text.")
    expect(() => writeTransitEvents([], { ...options, controlNumber: NaN })).toThrow("controlNumber of writeTransitEvents is a whole number of at most nine digits, and got NaN.")
  })
})
