/** SHA-256 by the runtime's own crypto at once where it can be had, else by WebCrypto, which every runtime has. */
import { Effect } from "effect"

const encoder = new TextEncoder()

/** What is used here of `node:crypto`, which Node, Bun and Deno hand out by name. */
interface RuntimeCrypto {
  readonly createHash: (algorithm: "sha256") => { readonly update: (text: string) => { readonly digest: () => Uint8Array } }
}

const { process } = globalThis as { readonly process?: { readonly getBuiltinModule?: (name: string) => unknown } }
const crypto = process?.getBuiltinModule?.("node:crypto") as RuntimeCrypto | undefined

// WebCrypto hands even the few bytes of a key to another thread, which takes longer than the rest of checking it
const atOnce = crypto === undefined ? undefined : (text: string): Uint8Array => new Uint8Array(crypto.createHash("sha256").update(text).digest())

/** 32 bytes. */
export const sha256 = (text: string): Effect.Effect<Uint8Array> =>
  atOnce !== undefined
    ? Effect.sync(() => atOnce(text))
    : Effect.map(Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", encoder.encode(text))), (buffer) => new Uint8Array(buffer))
