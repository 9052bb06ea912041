/** State of the demo between starts, so that its keys stay and nothing is written twice. */
import { Effect, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { type DataDirUnusable, makeDataDir, readText, writeText } from "../config/DataDir.ts"
import { runDemoReceiver } from "./DemoReceiver.ts"

const file = "demo.json"

const SavedState = Schema.Struct({
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
export type SavedState = typeof SavedState.Type

export interface DemoState {
  /** URL of the demo's receiver, for all kinds of deliveries. */
  readonly endpointUrl: string
  readonly saved: () => SavedState
  /** Merges values into the saved state and flushes it to disk. */
  readonly save: (more: Partial<SavedState>) => Effect.Effect<void, DataDirUnusable>
}

/** Reads the saved state and starts the receiver, which runs until the scope ends. */
export const openDemo = Effect.fnUntraced(function*(dataDir: string): Effect.fn.Return<DemoState, DataDirUnusable, Scope.Scope> {
  yield* makeDataDir(dataDir)
  const text = yield* readText(dataDir, file)
  let saved: SavedState = (text === undefined ? undefined : yield* Effect.orElseSucceed(decode(text), () => undefined)) ??
    { secret: `whsec_${randomBytes(32).toString("base64")}` }
  const save = (more: Partial<SavedState>) =>
    Effect.suspend(() => {
      saved = { ...saved, ...more }
      return writeText(dataDir, file, JSON.stringify(saved, null, 2))
    })
  const receiver = yield* runDemoReceiver({
    port: saved.receiverPort,
    secrets: () => saved.secret,
    print: (line) => void process.stdout.write(`${line}\n`)
  })
  yield* save({ receiverPort: receiver.port })
  return { endpointUrl: receiver.url, saved: () => saved, save }
})

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(SavedState))
