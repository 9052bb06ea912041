/** Keys for `/operator`. They have names, so that one can be replaced while another still works. */
import { checkOptions, type OptionKinds, optionKinds, type Principal } from "@waybill/core"
import { Redacted, Result } from "effect"

/** A key for the operator API. */
export interface OperatorKey {
  /** Name of the operator in the audit log and the request log. */
  readonly name: string
  readonly key: Redacted.Redacted
  /** Reads everything except delivery bodies, and writes nothing. */
  readonly readOnly: boolean
}

/** Operators belong to no tenant, so they do not see a tenant's freight by accident. */
export const operatorNamed = (client: string, origin: Principal["origin"], readOnly = false): Principal =>
  ({ tenantId: "", client, roles: ["operator"], accounts: [], origin, ...(readOnly ? { readOnly } : {}) })

/** Name of a key without a name. */
const unnamedOperator = "operator"

/** Minimum length; shorter keys can be guessed. */
const shortestOperatorKey = 20

const advice = "Take the output of: openssl rand -hex 32"

/**
 * Parses comma-separated keys, each `key`, `name:key` or `name:read:key`. Fails with the reason, which never quotes a
 * key. Keys with the same name are one operator; values must differ.
 */
export const parseOperatorKeys = (text: string): Result.Result<ReadonlyArray<OperatorKey>, string> => {
  if (/[\r\n]/.test(text.trim())) return Result.fail("has several lines. Write all keys in one line, separated by commas")
  const entries = text.split(",").map((entry) => entry.trim())
  const keys: Array<OperatorKey> = []
  for (const [index, entry] of entries.entries()) {
    const parsed = parseEntry(entry)
    if (typeof parsed === "string") return Result.fail(entries.length === 1 ? parsed : `(key ${index + 1} of ${entries.length}) ${parsed}`)
    keys.push(parsed)
  }
  return hasDuplicates(keys) ? Result.fail("has the same key twice. Give every entry a different key") : Result.succeed(keys)
}

const parseEntry = (entry: string): OperatorKey | string => {
  const parts = entry.split(":")
  if (parts.length > 3) return "has too many colons. Write key, name:key or name:read:key; a key has no colon"
  const key = parts.at(-1)!
  if (parts.length === 3 && parts[1] !== "read") return "has another word than read between name and key. Write name:read:key for a read-only key"
  return faultOf(parts.length === 1 ? unnamedOperator : parts[0]!, key) ??
    { name: parts.length === 1 ? unnamedOperator : parts[0]!, key: Redacted.make(key), readOnly: parts.length === 3 }
}

const faultOf = (name: string, key: string): string | undefined => {
  if (!/^[a-z0-9-]{1,100}$/.test(name)) return "has a name with other characters than lower-case letters, digits and hyphens"
  if (!/^[\x21-\x2b\x2d-\x39\x3b-\x7e]{0,1000}$/.test(key)) return `has blanks, control characters or characters outside ASCII in it. ${advice}`
  return key.length < shortestOperatorKey ? `is shorter than ${shortestOperatorKey} characters and can be guessed. ${advice}` : undefined
}

const hasDuplicates = (keys: ReadonlyArray<OperatorKey>): boolean => new Set(keys.map(({ key }) => Redacted.value(key))).size < keys.length

/** A key for `createWaybill`: a string, or an object with name and permission. */
export type OperatorKeySetting = string | { readonly name?: string; readonly key: string; readonly readOnly?: boolean }

const { boolean, text } = optionKinds

const settingKinds: OptionKinds<Exclude<OperatorKeySetting, string>> = { key: text, name: text, readOnly: boolean }

/** Throws an error with the reason. A misspelt `readOnly` would let a reader write. */
export const operatorKeysOf = (settings: ReadonlyArray<OperatorKeySetting>): ReadonlyArray<OperatorKey> => {
  const keys = settings.map((setting): OperatorKey => {
    const given = typeof setting === "object" && setting !== null ? setting : { key: setting }
    checkOptions("operatorKeys", given, settingKinds)
    const { key, name = unnamedOperator, readOnly = false } = given
    if (key === undefined) throw new TypeError(`operatorKeys: a key is missing. Is its environment variable set? ${advice}.`)
    const fault = faultOf(name, key)
    if (fault !== undefined) throw new RangeError(`operatorKeys: a key ${fault}.`)
    return { name, key: Redacted.make(key), readOnly }
  })
  if (hasDuplicates(keys)) throw new RangeError("operatorKeys: one key is there twice. Give every operator a key of its own.")
  return keys
}
