/** SHA-256: synchronous with `node:crypto` if the runtime has it, otherwise with WebCrypto, which every runtime has. */
import { Effect } from "effect"

const encoder = new TextEncoder()

/** The part of `node:crypto` used here. Node, Bun and Deno return it from `process.getBuiltinModule`. */
interface RuntimeCrypto {
  readonly createHash: (algorithm: "sha256") => { readonly update: (text: string) => { readonly digest: () => Uint8Array } }
}

const { process } = globalThis as { readonly process?: { readonly getBuiltinModule?: (name: string) => unknown } }
const crypto = process?.getBuiltinModule?.("node:crypto") as RuntimeCrypto | undefined

// WebCrypto hashes on another thread; for the few bytes of a key, the handover takes longer than the rest of the check
const atOnce = crypto === undefined ? undefined : (text: string): Uint8Array => new Uint8Array(crypto.createHash("sha256").update(text).digest())

/** Returns 32 bytes. */
export const sha256 = (text: string): Effect.Effect<Uint8Array> =>
  atOnce !== undefined
    ? Effect.sync(() => atOnce(text))
    : Effect.map(Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", encoder.encode(text))), (buffer) => new Uint8Array(buffer))
