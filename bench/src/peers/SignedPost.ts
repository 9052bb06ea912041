/** The job of every peer: sign a body by Standard Webhooks and POST it, with one undici pool. */
import { createHmac, createSecretKey } from "node:crypto"
import { Pool } from "undici"

export interface Poster {
  /** Resolves when the receiver accepts; rejects on any other response. */
  readonly post: (id: string, body: string) => Promise<void>
  readonly close: () => Promise<void>
}

// given as bytes, the key costs more than the rest of the signature
const key = createSecretKey(Buffer.alloc(32, 7))

/** `sign: false` sends a constant signature: the limit of the wire alone. */
export const makePoster = (receiver: string, options: { readonly connections: number; readonly sign: boolean }): Poster => {
  const pool = new Pool(receiver, { connections: options.connections, pipelining: 1 })
  const signatureOf = (id: string, timestamp: string, body: string): string =>
    options.sign ? createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64") : constant
  return {
    post: async (id, body) => {
      const timestamp = String(Math.floor(Date.now() / 1000))
      const answer = await pool.request({
        method: "POST",
        path: "/hook",
        headers: {
          "content-type": "application/json",
          "webhook-id": id,
          "webhook-timestamp": timestamp,
          "webhook-signature": `v1,${signatureOf(id, timestamp, body)}`
        },
        body
      })
      await answer.body.dump()
      if (answer.statusCode !== 200) throw new Error(`The receiver answered ${answer.statusCode}.`)
    },
    close: () => pool.close()
  }
}

const constant = Buffer.alloc(32, 1).toString("base64")
