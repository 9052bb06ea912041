/** X.509 certificates generated at run time, so that tests need no tool and no file that expires. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

/** A certificate with its key. */
export interface Certificate {
  /** PEM, as `node:tls` expects it. */
  readonly cert: string
  readonly key: string
}

/** Names, issuer and validity of a certificate. */
export interface CertificateOptions {
  readonly name: string
  /** DNS names and IPv4 addresses of the certificate. */
  readonly hosts?: ReadonlyArray<string>
  /** Self-signed without one. */
  readonly issuer?: Authority
  /** Valid only before 2021, or only after 2048, instead of throughout. */
  readonly valid?: "before" | "after"
}

/** A certificate authority with its private key. */
export interface Authority extends Certificate {
  readonly name: string
  readonly privateKey: KeyObject
}

/** Makes a P-256 certificate for tests. */
export const makeCertificate = ({ hosts, issuer, name, valid }: CertificateOptions): Authority => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(8)])),
    ecdsaWithSha256,
    distinguishedName(issuer?.name ?? name),
    sequence(utcTime(valid === "after" ? "490101000000Z" : "200101000000Z"), utcTime(valid === "before" ? "210101000000Z" : "491231235959Z")),
    distinguishedName(name),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(hosts === undefined ? basicConstraints : alternativeNames(hosts)))
  )
  const signature = sign("sha256", body, issuer?.privateKey ?? privateKey)
  return {
    name,
    privateKey,
    cert: pem(sequence(body, ecdsaWithSha256, tagged(0x03, Buffer.from([0]), signature))),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  }
}

/** The host of `good` certificates, in addition to 127.0.0.1. Subdomains are valid too. */
export const hostileHost = "hostile.example"

export type TestCertificates = ReturnType<typeof makeTestCertificates>

/** One valid certificate and several invalid ones. Senders under test trust `authority.cert`. */
export const makeTestCertificates = () => {
  const authority = makeCertificate({ name: "Hostile test authority" })
  const hosts = [hostileHost, `*.${hostileHost}`, "127.0.0.1"]
  const name = "receiver"
  return {
    authority,
    good: keyPair(makeCertificate({ name, hosts, issuer: authority })),
    expired: keyPair(makeCertificate({ name, hosts, issuer: authority, valid: "before" })),
    notYet: keyPair(makeCertificate({ name, hosts, issuer: authority, valid: "after" })),
    selfSigned: keyPair(makeCertificate({ name, hosts })),
    unknown: keyPair(makeCertificate({ name, hosts, issuer: makeCertificate({ name: "Unknown authority" }) })),
    falseAuthority: keyPair(makeCertificate({ name, hosts, issuer: makeCertificate({ name: authority.name }) })),
    otherHost: keyPair(makeCertificate({ name, hosts: ["other.example"], issuer: authority }))
  }
}

const keyPair = ({ cert, key }: Certificate): Certificate => ({ cert, key })

/** DER: tag, length, contents. */
const tagged = (tag: number, ...contents: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...contents: ReadonlyArray<Uint8Array>) => tagged(0x30, ...contents)
const integer = (bytes: Uint8Array) => tagged(0x02, bytes)
const utcTime = (text: string) => tagged(0x17, Buffer.from(text))
const oid = (hex: string) => tagged(0x06, Buffer.from(hex, "hex"))
const extension = (id: string, value: Uint8Array) => sequence(oid(id), tagged(0x04, value))

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))
const distinguishedName = (name: string) => sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(name)))))
const basicConstraints = extension("551d13", sequence(tagged(0x01, Buffer.from([0xff]))))
const alternativeNames = (hosts: ReadonlyArray<string>) =>
  extension("551d11", sequence(...hosts.map((host) =>
    /^[\d.]+$/.test(host) ? tagged(0x87, Buffer.from(host.split(".").map(Number))) : tagged(0x82, Buffer.from(host))
  )))

const pem = (der: Buffer) => `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`
