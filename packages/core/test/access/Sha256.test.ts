import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { sha256 } from "../../src/access/Sha256.ts"

const encoder = new TextEncoder()

const digestOf = (text: string) => Effect.map(Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", encoder.encode(text))), (buffer) => new Uint8Array(buffer))

it.effect("hashes the UTF-8 bytes of any text to 32 bytes", Effect.fnUntraced(function*() {
  for (const text of ["", "wb.acme.key", "\u0000\u007f\u0080\u00ff", "Zürich € 😀", "\ud800 a lone surrogate", "x".repeat(100_000)]) {
    assert.deepStrictEqual(yield* sha256(text), yield* digestOf(text))
  }
}))
