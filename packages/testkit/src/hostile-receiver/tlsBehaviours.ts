/** Receivers with untrusted certificates, or that never finish the TLS handshake. */
import type { HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { fails, honest, stalls } from "./RawAnswers.ts"
import type { TLSSocket, TlsOptions } from "node:tls"
import type { TestCertificates } from "./TestCertificates.ts"

const unbelieved = (does: string, tls: (certificates: TestCertificates) => TlsOptions): HostileScript => ({
  ...fails(does, "Fail before a byte of the request is written; try again at the next attempt, which heals when the receiver does.", honest),
  unsent: true,
  tls
})

const breaksOff = (does: string, onConnection: NonNullable<HostileScript["onConnection"]>): HostileScript => ({
  ...fails(does, "Fail: there is no secure connection.", () => {}),
  unsent: true,
  reads: "nothing",
  tls: "never",
  onConnection
})

export const tlsBehaviours = {
  "tls-expired": unbelieved("Its certificate has expired.", ({ expired }) => expired),
  "tls-not-yet": unbelieved("Its certificate is not valid yet.", ({ notYet }) => notYet),
  "tls-self-signed": unbelieved("Its certificate is signed by itself.", ({ selfSigned }) => selfSigned),
  "tls-unknown-authority": unbelieved("Its certificate is signed by nobody known.", ({ unknown }) => unknown),
  "tls-false-authority": unbelieved("Its certificate is signed by somebody with a known name and another key.", ({ impostor }) => impostor),
  "tls-other-host": unbelieved("Its certificate is for another host.", ({ otherHost }) => otherHost),
  "tls-1.0": unbelieved("Speaks TLS 1.0 only.", ({ good }) => ({ ...good, minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" })),
  "tls-1.1": unbelieved("Speaks TLS 1.1 only.", ({ good }) => ({ ...good, minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" })),
  "tls-no-cipher": unbelieved("Offers no encryption.", ({ good }) => ({ ...good, maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-NULL-SHA@SECLEVEL=0" })),
  "tls-h2-only": unbelieved("Speaks HTTP/2 only.", ({ good }) => ({ ...good, ALPNProtocols: ["h2"] })),
  "tls-wants-certificate": {
    ...fails("Wants a certificate of the sender.", "Fail, and show none.", honest),
    unsent: true,
    tls: ({ authority, good }) => ({ ...good, ca: authority.cert, requestCert: true, rejectUnauthorized: true })
  },
  "tls-silent": { ...stalls("Takes the connection and never shakes hands."), unsent: true, reads: "nothing", tls: "never" },
  "tls-slow": { ...stalls("Shakes hands byte by byte."), unsent: true, tls: "slowly" },
  "tls-plain": breaksOff("Answers the handshake in plain HTTP.", (socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"))
  }),
  "tls-garbage": breaksOff("Answers the handshake with bytes that mean nothing.", (socket) => {
    socket.once("data", () => socket.end(Buffer.alloc(4096, 0x17)))
  }),
  "tls-closes": breaksOff("Closes in the middle of the handshake.", (socket) => {
    socket.once("data", () => socket.end(Buffer.from("160303007a02000076", "hex")))
  }),
  "tls-resets": breaksOff("Resets the connection in the middle of the handshake.", (socket) => {
    socket.once("data", () => socket.resetAndDestroy())
  }),
  "tls-renegotiates": {
    does: "Wants to shake hands again before it answers.",
    must: "Refuse that, and give up at the deadline.",
    outcome: "failed",
    ends: "deadline",
    tls: ({ good }) => ({ ...good, maxVersion: "TLSv1.2" }),
    onRequest: (exchange) => {
      const socket = exchange.socket as TLSSocket
      socket.renegotiate({}, (error) => {
        if (error === null) honest(exchange)
        else socket.destroy()
      })
    }
  }
} satisfies HostileScripts
