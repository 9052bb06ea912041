/** Statement parameters on a connection of `@effect/sql-pg`. */
import { ParameterTypeId } from "@effect/sql-pg/PgTypes"
import { PgArray, quote, timestampText } from "./PgBulk.ts"

/**
 * Parameters of Waybill's own pool: arrays and bytes in binary, and everything else as text without a type, so that the
 * server derives the type from the statement. A declared type would prepare `$1::int8` anew for each kind of number.
 */
export const wireParameters = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  values.map((value) => {
    if (value instanceof PgArray) return { [ParameterTypeId]: ParameterTypeId, oid: value.oid, value: value.encode() }
    return value instanceof Uint8Array ? value : textParameter(value)
  })

/** Parameters for a client of the host, whose codecs are unknown: everything but bytes as text. */
export const textParameters = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  values.map((value) => {
    if (value instanceof PgArray) return value.literal()
    return value instanceof Uint8Array ? value : textParameter(value)
  })

const textParameter = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  switch (typeof value) {
    case "string":
      return value
    case "object":
      if (value instanceof Date) return timestampText(value.getTime())
      return Array.isArray(value) ? arrayLiteral(value) : JSON.stringify(value)
    default:
      return String(value)
  }
}

const arrayLiteral = (elements: ReadonlyArray<unknown>): string =>
  `{${elements.map((element) => {
    if (element instanceof Uint8Array) return quote(`\\x${Buffer.from(element).toString("hex")}`)
    const text = textParameter(element)
    return text === null ? "NULL" : quote(text)
  }).join(",")}}`
