/** Response schemas of the portal and of its links. */
import { InstantText, noticeKinds, PortalTheme } from "@waybill/core"
import { Schema } from "effect"
import { deliveryFields, HttpStatus } from "../operator/OperatorViews.ts"

export const PortalLink = Schema.Struct({
  client: Schema.String.annotate({ description: "Qualified: key:<name> or jwt:<issuer>:<sub>." }),
  url: Schema.NullOr(Schema.String).annotate({ description: "Opens the portal, with the token in the fragment. Null if this service has no page." }),
  token: Schema.String.annotate({ description: "For the header Authorization, in calls of the portal only." }),
  expiresAt: InstantText
}).annotate({ identifier: "PortalLink" })

export const PortalSession = Schema.Struct({
  client: Schema.String,
  expiresAt: Schema.NullOr(InstantText).annotate({ description: "When the link ends; null for other credentials." }),
  theme: PortalTheme
}).annotate({ identifier: "PortalSession" })

const ChosenKinds = Schema.NullOr(Schema.Array(Schema.Literals(noticeKinds))).annotate({ description: "The kinds of notices that are sent there; null: all." })

export const PortalContact = Schema.Struct({
  email: Schema.NullOr(Schema.String),
  emailKinds: ChosenKinds,
  sendsMail: Schema.Boolean.annotate({ description: "Whether this service sends e-mail at all." }),
  webhook: Schema.NullOr(Schema.Struct({
    subscriptionId: Schema.String.annotate({ description: "Of the webhook's deliveries." }),
    endpointUrl: Schema.String,
    hmacSecretId: Schema.String
  })),
  webhookKinds: ChosenKinds
}).annotate({ identifier: "PortalContact" })

export const PortalDelivery = Schema.Struct({
  ...deliveryFields,
  endpointUrl: Schema.String,
  body: Schema.NullOr(Schema.String).annotate({ description: "The exact body of every attempt; null before the first one." })
}).annotate({ identifier: "PortalDelivery" })

export const PortalTest = Schema.Struct({
  accepted: Schema.Boolean,
  status: Schema.NullOr(HttpStatus),
  detail: Schema.String
}).annotate({ identifier: "PortalTest" })
