/** Interoperability with other Standard Webhooks libraries, as verifiers and as signers. */
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { forRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { DeliveryReceiver, SeenInMemory, signDelivery, verifyDelivery } from "../../src/receiver/index.ts"
import { bytesOf, secret } from "../samples.ts"

interface Library {
  readonly sign: (id: string, at: Date, body: string) => string
  readonly verify: (body: string, headers: Record<string, string>) => unknown
}

const libraries: ReadonlyArray<readonly [string, (key: string) => Library]> = [
  ["standardwebhooks", (key) => new StandardWebhook(key)],
  ["svix", (key) => new SvixWebhook(key)]
]

const now = () => new Date(Math.floor(Date.now() / 1000) * 1000)

describe.each(libraries)("the library %s", (_, make) => {
  const library = make(secret)

  it("accepts our signatures over any body", async () => {
    await forRandom(20, async (random) => {
      const text = String.fromCodePoint(...Array.from({ length: 20 }, () => random.pick([65, 233, 8364, 128_666, 10, 34])))
      const body = JSON.stringify({ n: random.below(1_000_000), text })
      const id = `delivery_${random.below(1_000_000)}`
      const { headers } = await signDelivery({ secrets: secret, deliveryId: id, body: bytesOf(body), now: now() })
      expect(() => library.verify(body, { ...headers })).not.toThrow()
    })
  })

  it("creates signatures that we accept", async () => {
    const body = "{\"events\":[]}"
    const at = now()
    const headers = { "webhook-id": "msg_1", "webhook-timestamp": String(at.getTime() / 1000), "webhook-signature": library.sign("msg_1", at, body) }
    expect(await verifyDelivery({ secrets: secret, headers, body: bytesOf(body), now: at })).toMatchObject({ deliveryId: "msg_1" })
  })

  it("refuses, as we do, another body, another secret and an old timestamp", async () => {
    const at = now()
    const body = "{\"n\":1}"
    const headers = { ...(await signDelivery({ secrets: secret, deliveryId: "msg_2", body: bytesOf(body), now: at })).headers }
    const old = { ...(await signDelivery({ secrets: secret, deliveryId: "msg_3", body: bytesOf(body), now: new Date(at.getTime() - 3_600_000) })).headers }
    const other = make("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
    for (const [verifier, sentBody, sentHeaders] of [[library, "{\"n\":2}", headers], [other, body, headers], [library, body, old]] as const) {
      expect(() => verifier.verify(sentBody, { ...sentHeaders })).toThrow()
    }
    await expect(verifyDelivery({ secrets: secret, headers: old, body: bytesOf(body), now: at })).rejects.toThrow()
  })

  it("posts to our receiver", async () => {
    const taken: Array<string> = []
    const receiver = new DeliveryReceiver({ secrets: secret, seen: new SeenInMemory(), onStatus: ({ proNumber }) => void taken.push(proNumber) })
    const at = now()
    const body = JSON.stringify({
      proNumber: "100000001",
      shipmentReferenceNumbers: {},
      shipmentMilestoneStatus: "Delivered",
      TimeZoneOfShipment: null,
      UpdatedETA: "2026-11-20",
      notificationMessage: "Delivered."
    })
    const headers = { "webhook-id": "msg_4", "webhook-timestamp": String(at.getTime() / 1000), "webhook-signature": library.sign("msg_4", at, body) }
    expect((await receiver.answer({ headers, body: bytesOf(body) })).status).toBeLessThan(300)
    expect(taken).toEqual(["100000001"])
  })
})
