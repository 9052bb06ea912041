import { assert, describe, it } from "@effect/vitest"
import { UniqueIds } from "@waybill/core"
import { AttemptOutcome, Hmac, Sealer, SecretStore, WebhookSender, WebhookTests } from "@waybill/core/delivery"
import { Effect, Layer, Option } from "effect"

const storeNow = 1_763_626_500_000

/** The time in a signed test of a process whose own clock is at 1970. */
const signedTime = Effect.gen(function*() {
  const sent: Array<string | undefined> = []
  const stored = { versions: [{ sealed: new Uint8Array(), signsUntil: undefined }], owner: { _tag: "AnyClient" as const }, bodySignature: false, createdAt: 0, rotatedAt: undefined, now: storeNow }
  const services = Layer.mergeAll(
    Layer.mock(SecretStore, { find: () => Effect.succeed(Option.some(stored)) }),
    Layer.mock(Sealer, { open: () => Effect.succeed(new Uint8Array(32)), isSealedByNewest: () => true }),
    Layer.succeed(Hmac, { sha256: (_, pieces) => String(pieces[0]) }),
    Layer.succeed(WebhookSender, {
      refusal: () => undefined,
      start: ({ headers }, settle) => {
        sent.push(headers["webhook-timestamp"])
        settle(AttemptOutcome.Accepted({ status: 204, excerpt: "" }))
        return () => {}
      }
    }),
    UniqueIds.layer
  )
  const request = { tenantId: "acme", client: "client", url: "https://receiver.example/", hmacSecretId: "main", mustSign: true, body: ["[]"] }
  const { accepted } = yield* Effect.provide(Effect.flatMap(WebhookTests, ({ send }) => send(request)), Layer.provide(WebhookTests.layer, services))
  assert.isTrue(accepted)
  return sent
})

describe("a test of a receiver", () => {
  it.effect("is signed at the time of the store, as deliveries are", Effect.fnUntraced(function*() {
    assert.deepStrictEqual(yield* signedTime, [String(storeNow / 1000)])
  }))
})
