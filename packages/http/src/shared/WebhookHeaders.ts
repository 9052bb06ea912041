/** Headers of deliveries that may be unsigned. */
import { Schema } from "effect"
import type { WebhookSpec } from "./Contract.ts"

/** `owner`: the owner of the secret. */
export const signedWhereRegistered = (owner: string): WebhookSpec["headers"] => ({
  "webhook-id": { required: true, description: "The delivery's id, the same at every attempt.", schema: Schema.String },
  "webhook-timestamp": { required: true, description: "Unix time of this attempt, in seconds.", schema: Schema.String },
  "webhook-signature": {
    required: false,
    description: `If a secret is registered for the ${owner}, Standard Webhooks: \`v1,\` and base64 of the HMAC-SHA256 over ` +
      "`{webhook-id}.{webhook-timestamp}.{body}`, once for every valid secret, separated by spaces.",
    schema: Schema.String
  },
  "x-signature": {
    required: false,
    description: "If the secret has bodySignature: base64 of the HMAC-SHA256 over the bare body.",
    schema: Schema.String
  }
})
