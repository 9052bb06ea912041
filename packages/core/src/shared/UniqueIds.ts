/** Ids that Waybill creates: UUID version 7. They sort by time, cannot be guessed and never contain a dot. */
import { Clock, Context, Effect, Layer } from "effect"

/** Fills `bytes` with cryptographically secure random bytes. */
export class RandomBytes extends Context.Reference<(bytes: Uint8Array<ArrayBuffer>) => void>("@waybill/core/shared/RandomBytes", {
  defaultValue: () => (bytes) => {
    globalThis.crypto.getRandomValues(bytes)
  }
}) {}

/** Creates UUIDs of version 7, which sort by time. */
export class UniqueIds extends Context.Service<UniqueIds, {
  /** Creates an id. Ids of one process sort in the order of creation. */
  readonly next: Effect.Effect<string>
  /** Creates an id for an instant that was already read: `millis` since 1970. */
  readonly nextAt: (millis: number) => string
}>()("@waybill/core/shared/UniqueIds") {
  static readonly layer: Layer.Layer<UniqueIds> = Layer.effect(UniqueIds, Effect.gen(function*() {
    const fill = yield* RandomBytes
    const nextAt = sequentialIds(fill)
    return UniqueIds.of({ nextAt, next: Effect.map(Clock.currentTimeMillis, nextAt) })
  }))
}

/** Whether a text has the form of an id created here. Stores may keep ids as UUIDs, so callers check ids from outside before a lookup. */
export const isUniqueId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)

/** The id immediately before this one in sort order; `undefined` if there is none. */
export const idBefore = (id: string): string | undefined => {
  const number = isUniqueId(id) ? BigInt(`0x${id.replaceAll("-", "")}`) : 0n
  if (number === 0n) return undefined
  return (number - 1n).toString(16).padStart(32, "0").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

/** The smallest id of an instant, in milliseconds since 1970. */
export const firstIdAt = (millis: number): string =>
  Math.min(Math.max(0, millis), 2 ** 48 - 1).toString(16).padStart(12, "0").replace(/^(.{8})(.{4})$/, "$1-$2-0000-0000-000000000000")

const hex = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"))

/** Random bytes are read in blocks, because one read per id would cost more than the rest of the work. */
const sequentialIds = (fill: (bytes: Uint8Array<ArrayBuffer>) => void) => {
  const pool = new Uint8Array(8 * 512)
  let used = pool.length
  let lastMillis = 0
  let counter = 0
  // the ids of one call have the same time
  let prefixMillis = -1
  let prefix = ""
  return (millis: number): string => {
    if (used === pool.length) {
      fill(pool)
      used = 0
    }
    const r = pool.subarray(used, used += 8)
    if (millis > lastMillis) {
      lastMillis = millis
      counter = (r[0]! << 3) | (r[1]! >> 5)
    } else if (++counter > 0xfff) {
      // more than 4,096 ids in one millisecond: use the next millisecond, so that the order holds
      lastMillis += 1
      counter = 0
    }
    if (prefixMillis !== lastMillis) {
      prefixMillis = lastMillis
      const time = lastMillis.toString(16).padStart(12, "0")
      prefix = `${time.slice(0, 8)}-${time.slice(8)}-`
    }
    const rest = 0x7000 | counter
    return `${prefix}${hex[rest >> 8]}${hex[rest & 0xff]}-` +
      `${hex[0x80 | (r[0]! & 0x3f)]}${hex[r[1]!]}-${hex[r[2]!]}${hex[r[3]!]}${hex[r[4]!]}${hex[r[5]!]}${hex[r[6]!]}${hex[r[7]!]}`
  }
}
