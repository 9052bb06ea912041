import { type PickupOrder, PickupsClient } from "@waybill/client"
import { pickupRequest } from "@waybill/testkit"
import { describe, expect, inject, it } from "vitest"
import { eventually, sharedSettings, startProgram } from "../program/Program.ts"
import { tenantOn } from "../program/Tenant.ts"
import { mailServer } from "./MailServer.ts"

const pgUrl = inject("pgUrl")

const confirmed = (email: string) => pickupRequest({ day: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10), more: { confirmationEmail: email } }) as unknown as PickupOrder

const lagAt = async (url: string) => Number(/^waybill_mail_lag_seconds(?:\{.*\})? (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1])

describe("a process that only answers requests", { timeout: 60_000 }, () => {
  it("sends the e-mails that it keeps, beside a worker without a mail server", async () => {
    const { port, received } = await mailServer()
    const { env, operatorKey } = sharedSettings(pgUrl)
    const { url: workerUrl } = await startProgram({ env: { ...env, WAYBILL_ROLE: "worker" } })
    const { url } = await startProgram({ env: { ...env, WAYBILL_ROLE: "api", WAYBILL_SMTP_URL: `smtp://127.0.0.1:${port}`, WAYBILL_MAIL_FROM: "Acme Freight <dock@acme.example>" } })
    const { customerKey } = await tenantOn(url, operatorKey)
    const pickups = new PickupsClient({ baseUrl: url, apiKey: customerKey })
    expect((await pickups.create(confirmed("dock@shop.example")))[0]!.pickupMessage).toContain("This answer is also sent to confirmationEmail.")
    expect(await eventually(() => received[0])).toMatchObject({ from: "dock@acme.example", to: ["dock@shop.example"] })
    await eventually(async () => (await lagAt(workerUrl)) === 0 ? true : undefined)
  })
})
