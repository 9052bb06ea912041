/** A pickup request from code in the same process, which may leave out members that the interface requires as `null`. */
import { Schema } from "effect"
import { isObject } from "../../shared/Json.ts"
import { PickupRequest } from "./PickupRequest.ts"

type Encoded = typeof PickupRequest.Encoded
type Nullable = { [Name in keyof Encoded]-?: null extends Encoded[Name] ? Name : never }[keyof Encoded]

/** A request as the interface defines it, but unknown values may be left out. */
export interface PickupInput extends Omit<Encoded, Nullable>, Partial<Pick<Encoded, Nullable>> {}

/** Members that must be present over HTTP, and may be `null`. */
const nullable = Object.entries(PickupRequest.fields)
  .filter(([, field]) => field.ast.context?.isOptional !== true && Schema.is(field)(null))
  .map(([name]) => name)

/** Adds the members that are left out. `carrierPickupNumber` is the number of the pickup that the request changes. */
export const withNulls = (input: PickupInput, carrierPickupNumber: string | null = null): Encoded => {
  const given: unknown = input
  if (!isObject(given)) return input as Encoded
  const missing = nullable.filter((name) => given[name] === undefined)
  return { ...input, ...Object.fromEntries(missing.map((name) => [name, name === "carrierPickupNumber" ? carrierPickupNumber : null])) } as Encoded
}
