/** The whole service for hosts without Effect: promises, a `Request` handler, start and stop. */
import { storageAdapter } from "@waybill/core"
import { layerOf, servedOf, type WaybillOptions } from "./facade/Options.ts"
import type { Waybill } from "./facade/Waybill.ts"
import { waybillOver } from "./waybillOver.ts"

/** Connects to the storage at the first call; if it is unavailable, the next call tries again. */
export const createWaybill = <Tx = never>(options: WaybillOptions<Tx>): Waybill<Tx> => {
  const layer = layerOf(options)
  const { joined } = storageAdapter(options.storage)!
  return waybillOver<Tx>({ ...servedOf(options), layer, joined })
}
