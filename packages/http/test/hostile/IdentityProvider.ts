/** A fake identity provider with an HTTP key set. */
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const issuer = "https://login.example/"
const audience = "waybill"

export const startIdentityProvider = async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256")
  const keys = JSON.stringify({ keys: [{ ...await exportJWK(publicKey), kid: "k1", alg: "ES256", use: "sig" }] })
  const server = createServer((_request, response) => void response.writeHead(200, { "content-type": "application/json" }).end(keys))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const now = Math.floor(Date.now() / 1000)
  return {
    jwt: { jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, allowHttpHosts: ["127.0.0.1"], issuer, audience },
    token: (claims: Readonly<Record<string, unknown>>): Promise<string> =>
      new SignJWT({ iss: issuer, aud: audience, exp: now + 3600, ...claims }).setProtectedHeader({ alg: "ES256", kid: "k1" }).sign(privateKey),
    expired: { exp: now - 3600 },
    elsewhere: { aud: "another-service" },
    close: () => new Promise((resolve) => server.close(resolve))
  }
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>
