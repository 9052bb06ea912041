/** The whole service on the test run's Postgres, with scripted receivers. */
import { type StoragePorts, Waybill } from "@waybill/core"
import { DeliveryOptions, type DeliveryOptionValues } from "@waybill/core/delivery"
import { ContentHashNode, HmacNode, SealerNode, WebhookSenderScripted } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { PgClient } from "../src/index.ts"

export const testService = <R>(
  storage: Layer.Layer<StoragePorts | R, unknown>,
  delivery: Partial<DeliveryOptionValues> = { pollMillis: 50 }
) =>
  Waybill.layer({
    storage,
    transport: Layer.mergeAll(WebhookSenderScripted.layer, HmacNode.layer, ContentHashNode.layer, SealerNode.layer())
  }).pipe(Layer.provideMerge(DeliveryOptions.layer(delivery)))

/** Rows of a statement; `@` is replaced by the schema. */
export const rowsIn = (schema: string) => <A>(statement: string, values: ReadonlyArray<unknown> = []) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<A & object>(statement.replaceAll("@", `"${schema}".`), values).unprepared)
