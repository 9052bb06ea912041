/** A partner's mailbox by its profile. Secrets are read anew for each exchange, so that they can be replaced while the server runs. */
import { type AttemptFailure, sendWebhook, type WebhookSender } from "@waybill/core/delivery"
import type { HttpSettings, SecretReference, SftpSettings, TransportSettings } from "@waybill/edi"
import type { SftpOptions } from "@waybill/edi/sftp"
import { type EdiMailbox, type HttpAnswer, httpMailbox, type HttpPost, MailboxError, type OnSkipped } from "@waybill/edi/transports"
import { Effect, Redacted, Struct } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { isAbsolute, join } from "node:path"
import { text as textOf } from "node:stream/consumers"
import { messageOf } from "../ErrorMessage.ts"

export type Post = (request: HttpPost) => Promise<HttpAnswer>

/** A new mailbox is needed when `version` is another one. */
interface MailboxSource {
  readonly version: string
  readonly open: (onSkipped: OnSkipped) => EdiMailbox
}

/** `undefined` if nothing is to be exchanged: the partner's files come by requests to this server only. */
export const mailboxOf = async (folder: string, settings: TransportSettings, post: Post): Promise<MailboxSource | undefined> =>
  settings.kind === "sftp" ? sftpOf(folder, settings) : settings.sendTo === undefined ? undefined : httpOf(folder, settings, settings.sendTo, post)

type Secrets = Readonly<Record<string, Redacted.Redacted | undefined>>

const sourceOf = (settings: TransportSettings, secrets: Secrets, open: MailboxSource["open"]): MailboxSource => ({
  version: createHash("sha256").update(JSON.stringify([settings, Object.values(secrets).map(valueOf)])).digest("hex"),
  open
})

const valueOf = (secret: Redacted.Redacted | undefined) => secret === undefined ? undefined : Redacted.value(secret)

const sftpOf = async (folder: string, settings: SftpSettings): Promise<MailboxSource> => {
  const secrets = await sftpSecrets(folder, settings)
  const { sftpMailbox } = await sftp()
  return sourceOf(settings, secrets, (onSkipped) => sftpMailbox({ ...sftpOptions(settings, secrets), onSkipped }))
}

/** Loaded by servers with such a partner only. */
const sftp = () => import("@waybill/edi/sftp")

const sftpSecrets = async (folder: string, { passphrase, password, privateKey }: SftpSettings) => ({
  passphrase: await secretOf(folder, passphrase),
  password: await secretOf(folder, password),
  privateKey: await secretOf(folder, privateKey)
})

const sftpOptions = (settings: SftpSettings, { passphrase, password, privateKey }: Secrets): SftpOptions => {
  const { maxFileMegabytes, timeoutSeconds } = settings
  return {
    ...Struct.pick(settings, ["host", "port", "user", "hostKeys", "receiveFrom", "moveTo", "sendTo"]),
    passphrase: valueOf(passphrase),
    password: valueOf(password),
    privateKey: valueOf(privateKey),
    maxFileBytes: maxFileMegabytes === undefined ? undefined : maxFileMegabytes * 1024 * 1024,
    timeoutMillis: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000
  }
}

/** Tries a transport without an effect at the partner's end, and says what it found. */
export const checkTransport = async (folder: string, settings: TransportSettings): Promise<ReadonlyArray<string>> => {
  if (settings.kind === "sftp") return (await sftp()).checkSftp(sftpOptions(settings, await sftpSecrets(folder, settings)))
  await secretOf(folder, settings.authorization)
  if (settings.sendTo === undefined) return ["The partner sends its files to POST /edi/v1/files."]
  try {
    const { status } = await fetch(settings.sendTo, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout((settings.timeoutSeconds ?? 30) * 1000) })
    return [`${new URL(settings.sendTo).host} answers HEAD with ${status}. Nothing was sent.`]
  } catch (error) {
    const { cause, message } = error as Error
    throw new MailboxError("connection", `${new URL(settings.sendTo).host}: ${cause instanceof Error && cause.message !== "" ? cause.message : message}`)
  }
}

/** Fails with a `MailboxError` if a secret of the transport cannot be read. */
export const checkSecrets = async (folder: string, settings: TransportSettings): Promise<void> => {
  if (settings.kind === "sftp") await sftpSecrets(folder, settings)
  else await secretOf(folder, settings.authorization)
}

const httpOf = async (folder: string, settings: HttpSettings, url: string, post: Post): Promise<MailboxSource> => {
  const { contentType, timeoutSeconds } = settings
  const authorization = await secretOf(folder, settings.authorization)
  return sourceOf(settings, { authorization }, () =>
    httpMailbox({ url, contentType, authorization: valueOf(authorization), timeoutMillis: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000, post }))
}

/** No key or password is longer. */
const maxSecretBytes = 64 * 1024

const secretOf = async (folder: string, reference: SecretReference | undefined): Promise<Redacted.Redacted | undefined> => {
  if (reference === undefined) return undefined
  const text = "env" in reference ? process.env[reference.env] : await readSecret(isAbsolute(reference.file) ? reference.file : join(folder, reference.file))
  const secret = text?.replace(/\r?\n$/u, "")
  if (secret === undefined || secret === "") throw new MailboxError("settings", `${"env" in reference ? reference.env : reference.file} has no secret.`)
  return Redacted.make(secret)
}

const readSecret = async (path: string): Promise<string> => {
  try {
    return await textOf(createReadStream(path, { end: maxSecretBytes - 1 }))
  } catch (error) {
    throw new MailboxError("settings", `The secret ${path} cannot be read: ${messageOf(error)}.`)
  }
}

/** Requests to partners go through the sender of webhooks, with its checks of addresses. */
export const postWith = (sender: typeof WebhookSender.Service): Post => async ({ body, headers, timeoutMillis, url }) => {
  const refusal = sender.refusal(url)
  if (refusal !== undefined) return { problem: "settings", detail: refusal }
  const outcome = await Effect.runPromise(sendWebhook(sender, { owner: "edi", url, headers, body: [body], deadlineMillis: timeoutMillis }))
  switch (outcome._tag) {
    case "Accepted":
    case "Gone":
      return { status: outcome.status }
    case "Interrupted":
      return { problem: "connection", detail: "The server stops." }
    case "Failed":
      return outcome.status === undefined ? { problem: problems[outcome.failure] ?? "connection", detail: outcome.detail } : { status: outcome.status }
  }
}

const problems: Partial<Record<AttemptFailure, MailboxError["problem"]>> = { address_not_allowed: "settings", connect_timeout: "timeout", timeout: "timeout" }
