/** What the demo remembers between starts, so that its keys stay and nothing happens twice. */
import { Effect, type Scope, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { type DataDirUnusable, keepText, makeDataDir, readKept } from "../config/DataDir.ts"
import { runDemoReceiver } from "./DemoReceiver.ts"

const file = "demo.json"

const Kept = Schema.Struct({
  receiverPort: Schema.optionalKey(Schema.Int),
  /** Signs the demo's deliveries. */
  secret: Schema.String,
  carrierKey: Schema.optionalKey(Schema.String),
  customerKey: Schema.optionalKey(Schema.String),
  subscriptionId: Schema.optionalKey(Schema.String),
  /** The journey under way, by its beginning. */
  journey: Schema.optionalKey(Schema.Int)
})
type Kept = typeof Kept.Type

export interface DemoState {
  /** Where the demo's receiver takes deliveries. */
  readonly endpointUrl: string
  readonly kept: () => Kept
  /** Remembers more, at once on the disk. */
  readonly keep: (more: Partial<Kept>) => Effect.Effect<void, DataDirUnusable>
  /** A command that shows something, once there is a key. */
  readonly curl: (url: string) => string | undefined
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
    tell: (line) => void process.stdout.write(`${line}\n`)
  })
  yield* keep({ receiverPort: receiver.port })
  return {
    endpointUrl: receiver.url,
    kept: () => kept,
    keep,
    curl: (url) =>
      kept.customerKey === undefined
        ? undefined
        : `curl -s -H 'X-API-Key: ${kept.customerKey}' '${url.replace(/\/+$/, "")}/visibility/v1/events?order=desc&pageSize=3'`
  }
})

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Kept))
