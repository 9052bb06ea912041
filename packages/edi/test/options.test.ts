import { describe, expect, it } from "vitest"
import { sftpMailbox } from "../src/sftp/index.ts"
import { directoryTransport, httpMailbox } from "../src/transports/index.ts"

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
