/** Waybill as its server assembles it, without HTTP. */
import { Waybill } from "@waybill/core"
import { DeliveryOptions, type DeliveryOptionValues } from "@waybill/core/delivery"
import { type DocumentContentsDirectory, TransportHttp } from "@waybill/http"
// oxlint-disable-next-line no-unused-vars -- the declaration of waybillLayer names it
import { type PgClient, StoragePostgres } from "@waybill/postgres"
import { Layer, ManagedRuntime, Redacted, References } from "effect"

interface WaybillSettings {
  readonly database: string
  readonly schema?: string
  readonly connections?: number
  readonly delivery?: Partial<DeliveryOptionValues>
  /** The document store, if not the database. */
  readonly documents?: ReturnType<typeof DocumentContentsDirectory.layer>
}

/** Without a trace exporter nothing is traced, as in the server. */
export const waybillLayer = (settings: WaybillSettings) =>
  Waybill.layer({
    storage: storageOf(settings),
    transport: TransportHttp.layer({ sealingKeys: [Redacted.make(new Uint8Array(32).fill(7))], egressAllow: ["127.0.0.0/8"] })
  }).pipe(
    Layer.provideMerge(Layer.mergeAll(
      DeliveryOptions.layer(settings.delivery),
      Layer.succeed(References.TracerEnabled, false),
      Layer.succeed(References.MinimumLogLevel, "Error")
    ))
  )

const storageOf = ({ connections = 10, database, documents, schema = "waybill" }: WaybillSettings) => {
  const storage = StoragePostgres.layerUrl({ url: Redacted.make(database), maxConnections: connections, schema })
  return documents === undefined ? storage : Layer.provideMerge(documents, storage)
}

export const runWaybill = (settings: WaybillSettings) => ManagedRuntime.make(waybillLayer(settings))
