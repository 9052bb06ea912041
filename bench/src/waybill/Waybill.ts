/** Waybill as its server assembles it, without HTTP. */
import { DeliveryOptions, Sealer, Waybill } from "@waybill/core"
import { ContentHashNode, type DocumentContentsDirectory, HmacNode, parseEgressAllow, WebhookSenderHttp } from "@waybill/http"
import { PgClient, StoragePostgres } from "@waybill/postgres"
import { Layer, ManagedRuntime, Redacted, References, Result } from "effect"

export interface WaybillSettings {
  readonly database: string
  readonly schema?: string
  readonly connections?: number
  readonly delivery?: Partial<DeliveryOptions["Service"]>
  /** The document store, if not the database. */
  readonly documents?: ReturnType<typeof DocumentContentsDirectory.layer>
}

/** Without a trace exporter nothing is traced, as in the server. */
export const waybillLayer = (settings: WaybillSettings) =>
  Waybill.layer.pipe(
    Layer.provideMerge(storageOf(settings)),
    Layer.provideMerge(Layer.mergeAll(
      PgClient.layer({ url: Redacted.make(settings.database), maxConnections: settings.connections ?? 10 }),
      WebhookSenderHttp.layer({ egress: Result.getOrThrow(parseEgressAllow("127.0.0.0/8")) }),
      HmacNode.layer,
      ContentHashNode.layer,
      Sealer.layer([Redacted.make(new Uint8Array(32).fill(7))]),
      DeliveryOptions.layer(settings.delivery)
    )),
    Layer.provideMerge(Layer.mergeAll(
      Layer.succeed(References.TracerEnabled, false),
      Layer.succeed(References.MinimumLogLevel, "Error")
    ))
  )

const storageOf = ({ documents, schema = "waybill" }: WaybillSettings) => {
  const storage = StoragePostgres.layer({ schema })
  return documents === undefined ? storage : Layer.provideMerge(documents, storage)
}

export const runWaybill = (settings: WaybillSettings) => ManagedRuntime.make(waybillLayer(settings))

export type WaybillRuntime = ReturnType<typeof runWaybill>
