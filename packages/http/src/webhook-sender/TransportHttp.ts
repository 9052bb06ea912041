/** Everything that `Waybill.layer` needs of HTTP and of Node's crypto, as one layer. */
import type { TransportPorts } from "@waybill/core"
import { Sealer } from "@waybill/core/delivery"
import { Layer, Redacted, Result } from "effect"
import { ContentHashNode } from "../invoices/ContentHashNode.ts"
import { type EgressPolicy, parseEgressAllow } from "./AddressGuard.ts"
import { HmacNode } from "./HmacNode.ts"
import { WebhookSenderHttp, type WebhookSenderHttpOptions } from "./WebhookSenderHttp.ts"

/** 32 bytes, as bytes or base64. */
export type SealingKey = Redacted.Redacted<Uint8Array | string>

/** Keys, egress rules and timeouts of the transport. */
export interface TransportHttpOptions extends Omit<WebhookSenderHttpOptions, "egress"> {
  /** At least one. The first key encrypts webhook secrets at rest, all keys decrypt them: put a new key first. */
  readonly sealingKeys: ReadonlyArray<SealingKey>
  /** Private networks and hosts that webhooks may reach, such as `10.1.0.0/16` or `receiver.internal`. Default: none. */
  readonly egressAllow?: ReadonlyArray<string>
}

/** Everything that sends webhooks: the ports that `Waybill.layer` needs as `transport`. */
export const TransportHttp = {
  /** Sends webhooks over HTTP, signs and hashes with `node:crypto`, and encrypts secrets with AES-256-GCM. Throws when an option is invalid. */
  layer: ({ egressAllow = [], sealingKeys, ...sender }: TransportHttpOptions): Layer.Layer<TransportPorts> =>
    Layer.mergeAll(
      WebhookSenderHttp.layer({ ...sender, egress: egressOf(egressAllow) }),
      HmacNode.layer,
      ContentHashNode.layer,
      Sealer.layer(sealingKeysOf(sealingKeys))
    )
}

/** Validates the keys, also for callers without types. */
const sealingKeysOf = (keys: TransportHttpOptions["sealingKeys"] | undefined) => {
  const [first, ...more] = Array.isArray(keys) ? keys as ReadonlyArray<SealingKey> : []
  return [sealingKeyOf(first), ...more.map(sealingKeyOf)] as const
}

const sealingKeyOf = (key: SealingKey | undefined): Redacted.Redacted<Uint8Array> => {
  const value = Redacted.isRedacted(key) ? Redacted.value(key) : undefined
  const bytes = typeof value === "string" ? new Uint8Array(Buffer.from(value, "base64")) : value
  if (!(bytes instanceof Uint8Array) || bytes.length !== 32) {
    throw new RangeError("sealingKeys is a list of at least one key of 32 bytes, each given as bytes or as base64. Make one with: openssl rand -base64 32")
  }
  return Redacted.make(bytes)
}

const egressOf = (allowed: ReadonlyArray<string>): EgressPolicy => {
  if (!Array.isArray(allowed)) throw new TypeError("egressAllow is a list of networks and hosts, such as [\"10.1.0.0/16\", \"receiver.internal\"].")
  const parsed = parseEgressAllow(allowed.join(","))
  if (Result.isFailure(parsed)) throw new TypeError(`egressAllow: ${parsed.failure.join(" ")}`)
  return parsed.success
}
