/** State of the demo between starts, so that its keys stay and nothing is written twice. */
import { Effect, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { type DataDirUnusable, keepText, makeDataDir, readKept } from "../config/DataDir.ts"
import { runDemoReceiver } from "./DemoReceiver.ts"

const file = "demo.json"

const Kept = Schema.Struct({
  receiverPort: Schema.optionalKey(Schema.Int),
  /** Signs the demo's deliveries. */
  secret: Schema.String,
  carrierKey: Schema.optionalKey(Schema.String),
  /** Key of the shipper's system, which orders trucks. */
  shipperKey: Schema.optionalKey(Schema.String),
  /** Key of the shipper's customer, which reads and receives webhooks. */
  customerKey: Schema.optionalKey(Schema.String),
  /** Subscription to transit events. */
  subscriptionId: Schema.optionalKey(Schema.String),
  chargeSubscriptionId: Schema.optionalKey(Schema.String),
  /** Subscription to statuses of the journey with this start. */
  statuses: Schema.optionalKey(Schema.Struct({ transactionId: Schema.String, webhookUrl: Schema.String, startedAt: Schema.Int })),
  /** Start of the current or last journey. */
  startedAt: Schema.optionalKey(Schema.Int),
  /** Start of the last finished journey, invoices included. */
  finishedAt: Schema.optionalKey(Schema.Int)
})
export type Kept = typeof Kept.Type

export interface DemoState {
  /** URL of the demo's receiver, for all kinds of deliveries. */
  readonly endpointUrl: string
  readonly kept: () => Kept
  /** Merges values into the saved state and flushes it to disk. */
  readonly keep: (more: Partial<Kept>) => Effect.Effect<void, DataDirUnusable>
}

/** Reads the saved state and starts the receiver, which runs until the scope ends. */
export const openDemo = Effect.fnUntraced(function*(dataDir: string): Effect.fn.Return<DemoState, DataDirUnusable, Scope.Scope> {
  yield* makeDataDir(dataDir)
  const text = yield* readKept(dataDir, file)
  let kept: Kept = (text === undefined ? undefined : yield* Effect.orElseSucceed(decode(text), () => undefined)) ??
    { secret: `whsec_${randomBytes(32).toString("base64")}` }
  const keep = (more: Partial<Kept>) =>
    Effect.suspend(() => {
      kept = { ...kept, ...more }
      return keepText(dataDir, file, JSON.stringify(kept, null, 2))
    })
  const receiver = yield* runDemoReceiver({
    port: kept.receiverPort,
    secrets: () => kept.secret,
    print: (line) => void process.stdout.write(`${line}\n`)
  })
  yield* keep({ receiverPort: receiver.port })
  return { endpointUrl: receiver.url, kept: () => kept, keep }
})

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Kept))
