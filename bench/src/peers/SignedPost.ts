/** The job of every peer: sign a body by Standard Webhooks and POST it, with one undici pool. */
import { createHmac, createSecretKey } from "node:crypto"
import { Pool } from "undici"

interface Poster {
  /** Resolves when the receiver accepts; rejects on any other response. */
  readonly post: (id: string, body: string | Uint8Array) => Promise<void>
  readonly close: () => Promise<void>
}

// given as bytes, the key costs more than the rest of the signature
const key = createSecretKey(Buffer.alloc(32, 7))

/** The headers of one signed request. */
export const signedHeaders = (id: string, body: string | Uint8Array): Record<string, string> => {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")
  return headersOf(id, timestamp, signature)
}

const headersOf = (id: string, timestamp: string, signature: string) => ({
  "content-type": "application/json",
  "webhook-id": id,
  "webhook-timestamp": timestamp,
  "webhook-signature": `v1,${signature}`
})

/** `sign: false` sends a constant signature: the limit of the wire alone. */
export const makePoster = (receiver: string, options: { readonly connections: number; readonly sign: boolean }): Poster => {
  const pool = new Pool(receiver, { connections: options.connections, pipelining: 1 })
  return {
    post: async (id, body) => {
      const headers = options.sign ? signedHeaders(id, body) : headersOf(id, String(Math.floor(Date.now() / 1000)), constant)
      const answer = await pool.request({ method: "POST", path: "/hook", headers, body })
      await answer.body.dump()
      if (answer.statusCode !== 200) throw new Error(`The receiver answered ${answer.statusCode}.`)
    },
    close: () => pool.close()
  }
}

const constant = Buffer.alloc(32, 1).toString("base64")
