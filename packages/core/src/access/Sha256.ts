/** SHA-256 by WebCrypto, which every runtime has. */
import { Effect } from "effect"

const encoder = new TextEncoder()

/** 32 bytes. */
export const sha256 = (text: string): Effect.Effect<Uint8Array> =>
  Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", encoder.encode(text))).pipe(
    Effect.map((buffer) => new Uint8Array(buffer))
  )
