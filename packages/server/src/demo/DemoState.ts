/** What the demo remembers between starts, so that its keys stay and nothing happens twice. */
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
  /** Of the shipper's system, which orders trucks. */
  shipperKey: Schema.optionalKey(Schema.String),
  /** Of the shipper's people, who look and are told. */
  customerKey: Schema.optionalKey(Schema.String),
  /** To transit events. */
  subscriptionId: Schema.optionalKey(Schema.String),
  chargeSubscriptionId: Schema.optionalKey(Schema.String),
  /** To statuses, of the journey that began then. */
  statuses: Schema.optionalKey(Schema.Struct({ transactionId: Schema.String, webhookUrl: Schema.String, startedAt: Schema.Int })),
  /** When the journey began that is under way, or was the last. */
  startedAt: Schema.optionalKey(Schema.Int),
  /** When the last journey began that was brought to its end, invoices and all. */
  finishedAt: Schema.optionalKey(Schema.Int)
})
export type Kept = typeof Kept.Type

export interface DemoState {
  /** Where the demo's receiver takes deliveries of all kinds. */
  readonly endpointUrl: string
  readonly kept: () => Kept
  /** Remembers more, at once on the disk. */
  readonly keep: (more: Partial<Kept>) => Effect.Effect<void, DataDirUnusable>
}

/** Reads what was kept and starts the receiver, which ends with the scope. */
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
