/** SHA-256: synchronous with `node:crypto` if the runtime has it, otherwise with WebCrypto, which every runtime has. */
import { Effect } from "effect"

const encoder = new TextEncoder()

/** The part of `node:crypto` used here. Node, Bun and Deno return it from `process.getBuiltinModule`. */
interface RuntimeCrypto {
  readonly hash?: (algorithm: "sha256", text: string, encoding: "latin1") => string
}

const { process } = globalThis as { readonly process?: { readonly getBuiltinModule?: (name: string) => unknown } }
const hash = (process?.getBuiltinModule?.("node:crypto") as RuntimeCrypto | undefined)?.hash

// WebCrypto hashes on another thread; for the few bytes of a key, the handover takes longer than the rest of the check. A digest as text takes a
// quarter of the time of one as a buffer.
const atOnce = hash === undefined ? undefined : (text: string): Uint8Array => bytesOf(hash("sha256", text, "latin1"))

const bytesOf = (latin1: string): Uint8Array => {
  const bytes = new Uint8Array(latin1.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = latin1.charCodeAt(index)
  return bytes
}

/** Returns 32 bytes. */
export const sha256 = (text: string): Effect.Effect<Uint8Array> =>
  atOnce !== undefined
    ? Effect.sync(() => atOnce(text))
    : Effect.map(Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", encoder.encode(text))), (buffer) => new Uint8Array(buffer))
