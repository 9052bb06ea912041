/** How files come from the partner and go to the partner, as a part of its profile. Secrets are named, never written down. */
import { Schema } from "effect"

/** Where a secret is: a variable of the process, or a file, whose path may begin at the partner's folder. */
export const SecretReference = Schema.Union([
  Schema.Struct({
    env: Schema.String.check(Schema.isPattern(/^WAYBILL_EDI_SECRET_[A-Z0-9_]{1,100}$/u, { message: "The name of a variable with a secret of a partner begins with WAYBILL_EDI_SECRET_." }))
  }),
  Schema.Struct({ file: Schema.String.check(Schema.isPattern(/^[^\0]{1,1000}$/u, { message: "A path has 1 to 1000 characters." })) })
], { mode: "oneOf" }).annotate({ message: "A secret is named by { \"env\": \"WAYBILL_EDI_SECRET_…\" } or { \"file\": \"…\" }." })
export type SecretReference = typeof SecretReference.Type

const seconds = (minimum: number, maximum: number, name: string) => Schema.Int.check(Schema.isBetween({ minimum, maximum }, { message: `${name} is an integer from ${minimum} to ${maximum}.` }))

const text = (name: string) => Schema.String.check(Schema.isPattern(/^[^\u0000-\u001f\u007f]{1,255}$/u, { message: `${name} has 1 to 255 characters.` }))

const folder = (name: string) => Schema.String.check(Schema.isPattern(/^[^\u0000-\u001f\u007f]{1,1000}$/u, { message: `${name} has 1 to 1000 characters.` }))

/** The partner's SFTP server. Keys and passwords are in files or variables, never in the profile. */
export const SftpSettings = Schema.Struct({
  kind: Schema.Literal("sftp"),
  host: text("host"),
  port: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }, { message: "port is an integer from 1 to 65535." }))),
  user: text("user"),
  /** Fingerprints as `ssh-keygen -lf` prints them; several while the partner replaces its key. */
  hostKeys: Schema.Array(Schema.String.check(Schema.isPattern(/^SHA256:[A-Za-z0-9+/]{43}$/u, { message: "A host key is a fingerprint, such as SHA256: and 43 characters." })))
    .check(Schema.isMinLength(1, { message: "Name the fingerprint of the host's key." }), Schema.isMaxLength(5)),
  privateKey: Schema.optionalKey(SecretReference),
  passphrase: Schema.optionalKey(SecretReference),
  password: Schema.optionalKey(SecretReference),
  receiveFrom: Schema.optionalKey(folder("receiveFrom")),
  moveTo: Schema.optionalKey(folder("moveTo")),
  sendTo: Schema.optionalKey(folder("sendTo")),
  /** Default 60. */
  everySeconds: Schema.optionalKey(seconds(5, 86_400, "everySeconds")),
  /** Of one request and its answer. Default 30. */
  timeoutSeconds: Schema.optionalKey(seconds(1, 300, "timeoutSeconds")),
  /** Default 256. */
  maxFileMegabytes: Schema.optionalKey(seconds(1, 4_096, "maxFileMegabytes"))
}).check(
  Schema.makeFilter(({ password, privateKey }) => (password === undefined) !== (privateKey === undefined) || "An SFTP transport has a privateKey or a password."),
  Schema.makeFilter(({ receiveFrom, sendTo }) => receiveFrom !== undefined || sendTo !== undefined || "An SFTP transport has receiveFrom, sendTo or both."),
  Schema.makeFilter(({ passphrase, privateKey }) => passphrase === undefined || privateKey !== undefined || "passphrase is that of a privateKey.")
)
export type SftpSettings = typeof SftpSettings.Type

/** Calls in both directions: the partner's and ours. */
export const HttpSettings = Schema.Struct({
  kind: Schema.Literal("http"),
  /** Files of the partner come by `POST /edi/v1/files` of the server. */
  receive: Schema.optionalKey(Schema.Boolean),
  /** Our files go there, one request each. */
  sendTo: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s@]{1,2000}$/u, { message: "sendTo is an https address without a user." }))),
  /** The `Authorization` of our requests, such as `Bearer …`. */
  authorization: Schema.optionalKey(SecretReference),
  /** Default `application/edi-x12`. */
  contentType: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/u, { message: "contentType is a media type." }))),
  /** Between two requests that send what waits. Default 60. */
  everySeconds: Schema.optionalKey(seconds(5, 86_400, "everySeconds")),
  /** Of one request. Default 30. */
  timeoutSeconds: Schema.optionalKey(seconds(1, 300, "timeoutSeconds"))
}).check(
  Schema.makeFilter(({ receive, sendTo }) => receive === true || sendTo !== undefined || "An HTTP transport has \"receive\": true, sendTo or both."),
  Schema.makeFilter(({ authorization, sendTo }) => authorization === undefined || sendTo !== undefined || "authorization is that of requests to sendTo.")
)
export type HttpSettings = typeof HttpSettings.Type

/** How files reach the partner. */
export const TransportSettings = Schema.Union([SftpSettings, HttpSettings]).annotate({ identifier: "TransportSettings", message: "A transport is of the kind sftp or http." })
export type TransportSettings = typeof TransportSettings.Type
