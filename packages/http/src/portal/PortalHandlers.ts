/** HTTP handlers of the portal over core's use cases. */
import { CustomerPortal, EndpointNotices, formatInstant } from "@waybill/core"
import { Effect, Redacted } from "effect"
import { accepted, json, listPage } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import type { PortalContract } from "./PortalContract.ts"
import { PortalPage } from "./PortalPage.ts"

export const PortalHandlers = Effect.map(Effect.all([CustomerPortal, EndpointNotices, PortalPage]), ([portal, notices, page]): HandlersOf<typeof PortalContract> => ({
  getPortalSession: ({ link, principal: { client, tenantId } }) =>
    Effect.succeed(json({ tenantId, client, expiresAt: link === undefined ? null : formatInstant(link.expiresAt), theme: { ...page.theme, ...link?.theme } })),
  listPortalSubscriptions: ({ principal, query }) => Effect.flatMap(portal.subscriptions(principal, query), listPage),
  getPortalSubscription: ({ params, principal }) => Effect.map(portal.subscription(principal, params.subscriptionId), json),
  pausePortalSubscription: ({ params, principal }) => Effect.map(portal.pause(principal, params.subscriptionId), json),
  resumePortalSubscription: ({ params, principal }) => Effect.map(portal.resume(principal, params.subscriptionId), json),
  testPortalSubscription: ({ params, principal }) => Effect.map(portal.test(principal, params.subscriptionId), json),
  listPortalDeliveries: ({ principal, query }) => Effect.flatMap(portal.deliveries(principal, query), listPage),
  getPortalDelivery: ({ params, principal }) => Effect.map(portal.delivery(principal, params.deliveryId), json),
  retryPortalDelivery: ({ params, principal }) => Effect.as(portal.retry(principal, params.deliveryId), accepted),
  getPortalContact: ({ principal }) => Effect.map(notices.contact(principal), json),
  putPortalContact: ({ body, principal }) => Effect.map(notices.setContact(principal, body), json),
  listPortalSecrets: ({ principal, query }) => Effect.flatMap(portal.secrets(principal, query), listPage),
  rotatePortalSecret: ({ body, params, principal }) =>
    Effect.map(portal.rotateSecret(principal, params.hmacSecretId, body), ({ hmacSecretId, secret }) => json({ hmacSecretId, secret: Redacted.value(secret) }))
}))
