/** Signing secrets in text form: `whsec_` and standard base64 of 24 to 64 random bytes. */
import type { Bytes } from "../shared/Bytes.ts"

/** One secret, or several during a rotation. */
export type WebhookSecrets = string | ReadonlyArray<string>

/** A secret of this receiver is invalid. The message never contains it. */
export class WebhookSecretUnusable extends Error {
  override readonly name = "WebhookSecretUnusable"
}

/** The keys of the secrets, in the same order; at least one. */
export const readSecrets = (secrets: WebhookSecrets): ReadonlyArray<Bytes> => {
  const texts = typeof secrets === "string" ? [secrets] : secrets
  if (!Array.isArray(texts) || texts.length === 0) {
    throw new WebhookSecretUnusable("No webhook secret was given. Without one every delivery would have to be refused.")
  }
  return texts.map(readSecret)
}

const strictBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const readSecret = (secret: unknown, index: number): Bytes => {
  const refuse = (sentence: string) => new WebhookSecretUnusable(`Webhook secret ${index + 1} ${sentence}`)
  if (typeof secret !== "string" || secret === "") throw refuse("is empty. Is its environment variable set?")
  if (secret.trim() !== secret) throw refuse("begins or ends with a blank or a line break. Trim it.")
  if (!secret.startsWith("whsec_")) throw refuse("does not begin with whsec_. Use the secret as the sender shows it.")
  const encoded = secret.slice("whsec_".length)
  if (!strictBase64.test(encoded)) throw refuse("is not standard base64 after whsec_.")
  const key = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
  if (key.length < 24 || key.length > 64) throw refuse(`has ${key.length} bytes; 24 to 64 are allowed.`)
  return key
}
