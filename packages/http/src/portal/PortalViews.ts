/** Response schemas of the portal and of its links that core does not have. */
import { InstantText, PortalTheme } from "@waybill/core"
import { Schema } from "effect"

export const PortalLink = Schema.Struct({
  /** Qualified. */
  client: Schema.String.annotate({ description: "Qualified: key:<name> or jwt:<issuer>:<sub>." }),
  /** The page with the token in its fragment; `null` without `portal.pageUrl`. */
  url: Schema.NullOr(Schema.String).annotate({ description: "Opens the portal, with the token in the fragment. Null if this service has no page." }),
  /** For `Authorization: Bearer` in calls below `/portal`. */
  token: Schema.String.annotate({ description: "For the header Authorization, in calls of the portal only." }),
  expiresAt: InstantText
}).annotate({ identifier: "PortalLink" })

export const PortalSession = Schema.Struct({
  tenantId: Schema.String,
  client: Schema.String.annotate({ description: "Qualified; unique in its tenant." }),
  expiresAt: Schema.NullOr(InstantText).annotate({ description: "When the link ends; null for other credentials." }),
  theme: PortalTheme
}).annotate({ identifier: "PortalSession" })
