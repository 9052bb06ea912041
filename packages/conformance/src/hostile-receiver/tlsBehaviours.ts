/** Receivers with untrusted certificates, or that never finish the TLS handshake. */
import type { HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { fails, respondCorrectly, stalls } from "./RawAnswers.ts"
import type { TLSSocket, TlsOptions } from "node:tls"
import type { TestCertificates } from "./TestCertificates.ts"

const unbelieved = (does: string, tls: (certificates: TestCertificates) => TlsOptions): HostileScript => ({
  ...fails(does, "Fail before the request is written. The next attempt checks the certificate and protocol again.", respondCorrectly),
  unsent: true,
  tls
})

const breaksOff = (does: string, onConnection: NonNullable<HostileScript["onConnection"]>): HostileScript => ({
  ...fails(does, "Fail: no TLS connection is established.", () => {}),
  unsent: true,
  reads: "nothing",
  tls: "never",
  onConnection
})

export const tlsBehaviours = {
  "tls-expired": unbelieved("Uses an expired certificate.", ({ expired }) => expired),
  "tls-not-yet": unbelieved("Uses a certificate that is not valid yet.", ({ notYet }) => notYet),
  "tls-self-signed": unbelieved("Uses a self-signed certificate.", ({ selfSigned }) => selfSigned),
  "tls-unknown-authority": unbelieved("Uses a certificate of an unknown authority.", ({ unknown }) => unknown),
  "tls-false-authority": unbelieved("Uses a certificate of an authority with a known name and another key.", ({ falseAuthority }) => falseAuthority),
  "tls-other-host": unbelieved("Uses a certificate for another host.", ({ otherHost }) => otherHost),
  "tls-1.0": unbelieved("Supports only TLS 1.0.", ({ good }) => ({ ...good, minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" })),
  "tls-1.1": unbelieved("Supports only TLS 1.1.", ({ good }) => ({ ...good, minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" })),
  "tls-no-cipher": unbelieved("Offers only cipher suites without encryption.", ({ good }) => ({ ...good, maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-NULL-SHA@SECLEVEL=0" })),
  "tls-h2-only": unbelieved("Supports only HTTP/2.", ({ good }) => ({ ...good, ALPNProtocols: ["h2"] })),
  "tls-wants-certificate": {
    ...fails("Requests a client certificate.", "Fail, and send no certificate.", respondCorrectly),
    unsent: true,
    tls: ({ authority, good }) => ({ ...good, ca: authority.cert, requestCert: true, rejectUnauthorized: true })
  },
  "tls-silent": { ...stalls("Accepts the connection and never starts the TLS handshake."), unsent: true, reads: "nothing", tls: "never" },
  "tls-slow": { ...stalls("Sends the TLS handshake slowly, byte by byte."), unsent: true, tls: "slowly" },
  "tls-plain": breaksOff("Responds to the handshake with plain HTTP.", (socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"))
  }),
  "tls-garbage": breaksOff("Responds to the handshake with garbage.", (socket) => {
    socket.once("data", () => socket.end(Buffer.alloc(4096, 0x17)))
  }),
  "tls-closes": breaksOff("Closes the connection during the handshake.", (socket) => {
    socket.once("data", () => socket.end(Buffer.from("160303007a02000076", "hex")))
  }),
  "tls-resets": breaksOff("Resets the connection during the handshake.", (socket) => {
    socket.once("data", () => socket.resetAndDestroy())
  }),
  "tls-renegotiates": {
    does: "Starts a TLS renegotiation before its response.",
    must: "Refuse the renegotiation and fail: the receiver ends TLS with an alert, and may keep the connection.",
    outcome: "failed",
    ends: "receiver",
    tls: ({ good }) => ({ ...good, maxVersion: "TLSv1.2" }),
    onRequest: (exchange) => {
      const socket = exchange.socket as TLSSocket
      socket.renegotiate({}, (error) => {
        if (error === null) respondCorrectly(exchange)
        else socket.destroy()
      })
    }
  }
} satisfies HostileScripts
