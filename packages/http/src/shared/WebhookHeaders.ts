/** Headers of deliveries, and what their answers mean. */
import { Schema } from "effect"
import type { WebhookSpec } from "./Contract.ts"

/** Of deliveries that are always signed. */
export const signedHeaders = {
  "webhook-id": { required: true, description: "The deliveryId.", schema: Schema.String },
  "webhook-timestamp": { required: true, description: "Unix time of this attempt, in seconds.", schema: Schema.String },
  "webhook-signature": {
    required: true,
    description: "Standard Webhooks: `v1,` and base64 of the HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`, " +
      "once for every valid secret, separated by spaces.",
    schema: Schema.String
  },
  "x-signature": {
    required: false,
    description: "If the secret has bodySignature: base64 of the HMAC-SHA256 over the bare body.",
    schema: Schema.String
  }
} satisfies WebhookSpec["headers"]

/** Of deliveries that may be unsigned. `owner`: the owner of the secret. */
export const signedWhereRegistered = (owner: string): WebhookSpec["headers"] => ({
  ...signedHeaders,
  "webhook-id": { required: true, description: "The delivery's id, the same at every attempt.", schema: Schema.String },
  "webhook-signature": {
    required: false,
    description: `If a secret is registered for the ${owner}, Standard Webhooks: \`v1,\` and base64 of the HMAC-SHA256 over ` +
      "`{webhook-id}.{webhook-timestamp}.{body}`, once for every valid secret, separated by spaces.",
    schema: Schema.String
  }
})

/** Answers to deliveries that are retried. `refused`: what 410 says and does. */
export const answersOfReceivers = (refused: string): WebhookSpec["answers"] => ({
  "2XX": { description: "Accepted. The delivery is done." },
  "410": { description: refused },
  "default": { description: "Not accepted. The delivery is retried with backoff until its attempts are used up." }
})
