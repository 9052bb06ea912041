import { Mailer } from "@waybill/core"
import { Effect, Fiber, Latch, Redacted } from "effect"
import { type AddressInfo, createServer } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { smtpMailerLayer } from "../../src/mail/SmtpMailer.ts"
import { mailServer } from "./MailServer.ts"

const mail = { id: "failing.s-1.20400", to: "edi@shipper.example", subject: "Your webhook has failed for long", text: "Endpoint https://shipper.example/hook\n" }

const send = (url: string, sent = mail) =>
  Effect.runPromise(Effect.flatMap(Mailer, (mailer) => mailer.send(sent)).pipe(
    Effect.provide(smtpMailerLayer({ url: Redacted.make(url), from: "Acme Freight <webhooks@acme.example>" }))
  ))

describe("SmtpMailer", () => {
  it("sends a plain mail to a mail server, with an id that is the same for each attempt", async () => {
    const { port, received } = await mailServer()
    await send(`smtp://127.0.0.1:${port}`)
    await send(`smtp://127.0.0.1:${port}`)
    expect(received.map(({ from, to }) => [from, to])).toEqual(Array(2).fill(["webhooks@acme.example", ["edi@shipper.example"]]))
    for (const { text } of received) {
      expect(text).toMatch(/^From: Acme Freight <webhooks@acme\.example>\r$/m)
      expect(text).toMatch(/^Message-ID: <failing\.s-1\.20400@acme\.example>\r$/m)
      // so that no autoresponder answers
      expect(text).toMatch(/^Auto-Submitted: auto-generated\r$/m)
      expect(text).toMatch(/^Subject: Your webhook has failed for long\r$/m)
      expect(text).toContain("Endpoint https://shipper.example/hook")
    }
  })

  it("signs in, and fails without the password in the message", async () => {
    const { port, received } = await mailServer({
      authOptional: false,
      onAuth: ({ password, username }, _, done) => username === "acme" && password === "a secret" ? done(null, { user: username }) : done(new Error("Wrong."))
    })
    await send(`smtp://acme:a%20secret@127.0.0.1:${port}`)
    expect(received).toHaveLength(1)
    const failure = await send(`smtp://acme:another%20secret@127.0.0.1:${port}`).catch((error: unknown) => String(error))
    expect(failure).toContain("E-mail could not be sent")
    expect(failure).not.toContain("another")
  })

  it("fails when the server refuses the recipient, or cannot be reached", async () => {
    const { port } = await mailServer({ onRcptTo: (_, __, done) => done(new Error("No such user.")) })
    await expect(send(`smtp://127.0.0.1:${port}`)).rejects.toThrow("E-mail could not be sent")
    await expect(send("smtp://127.0.0.1:1")).rejects.toThrow("E-mail could not be sent")
  })

  it("leaves a server that never ends its answer, and sends the next mail", async () => {
    let connections = 0
    const [closed, ended] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
    const server = createServer((socket) => {
      connections += 1
      const isFirst = connections === 1
      socket.write("220 hostile ESMTP\r\n")
      socket.on("error", () => {}).on("close", () => isFirst && closed.openUnsafe())
      socket.on("data", (data) => {
        const isData = String(data).startsWith("DATA")
        if (!isData || !isFirst) return void socket.write(isData ? "354 go\r\n" : "250 ok\r\n")
        ended.openUnsafe()
        // an answer of many lines: the connection is never silent
        const lines = setInterval(() => socket.write("354-wait\r\n"), 100)
        socket.on("close", () => clearInterval(lines))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
    await Effect.runPromise(
      Effect.gen(function*() {
        const mailer = yield* Mailer
        const first = yield* Effect.forkChild(mailer.send(mail))
        yield* ended.await
        yield* Fiber.interrupt(first)
        yield* closed.await
        yield* mailer.send(mail)
      }).pipe(Effect.provide(smtpMailerLayer({ url: Redacted.make(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}`), from: "webhooks@acme.example" })))
    )
    expect(connections).toBe(2)
  })

  it("fails without a secret that the server's answer quotes", async () => {
    const { port } = await mailServer({ onRcptTo: (_, __, done) => done(new Error(`No such user: whsec_${"k".repeat(43)}=.`)) })
    const failure = await send(`smtp://127.0.0.1:${port}`).catch((error: unknown) => String(error))
    expect(failure).toContain("No such user")
    expect(failure).not.toContain("kkkk")
  })
})
