import { Mailer } from "@waybill/core"
import { Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"
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

  it("fails without a secret that the server's answer quotes", async () => {
    const { port } = await mailServer({ onRcptTo: (_, __, done) => done(new Error(`No such user: whsec_${"k".repeat(43)}=.`)) })
    const failure = await send(`smtp://127.0.0.1:${port}`).catch((error: unknown) => String(error))
    expect(failure).toContain("No such user")
    expect(failure).not.toContain("kkkk")
  })
})
