/** The customer's portal as promises. */
import type * as core from "@waybill/core"
import {
  CustomerPortal,
  EndpointNotices,
  type ListPage,
  type NoticeContactView,
  PortalAccess,
  type PortalDelivery,
  type PortalTestResult,
  type Principal,
  type SubscriptionView
} from "@waybill/core"
import type { DeliveryView, DestinationState as SubscriptionState, SecretRotation, SecretView } from "@waybill/core/delivery"
import { Effect, Redacted } from "effect"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"
import { makePortalLinks } from "../portal/PortalPage.ts"
import type { PortalLink } from "../portal/PortalViews.ts"
import type { ServiceFailure } from "../shared/ProblemOf.ts"
import type { DeliveriesQuery, PageQuery, SigningSecret } from "./OperatorMethods.ts"
import { plain } from "./Plain.ts"
import { as, ofTenant, type Run } from "./Run.ts"

export type PortalLinkRequest = typeof core.PortalLinkRequest.Encoded

export type PortalLinkToken = typeof PortalLink.Type

export interface PortalSubscriptionsQuery extends PageQuery {
  /** Only these, at most 100. Unknown ids are left out. */
  readonly subscriptionId?: ReadonlyArray<string>
  readonly state?: SubscriptionState
}

export type SecretRotationOptions = typeof SecretRotation.Encoded

/** Where notices of failing endpoints are sent; `null` ends notices there. What is left out, other than `email`, stays as it is. */
export type NoticeContactSettings = typeof core.NoticeContact.Encoded

export interface PortalMethods {
  /** Creates a token that opens the portal of one client, for operators. */
  readonly createLink: (tenantId: string, request: PortalLinkRequest) => Promise<PortalLinkToken>
  /** The caller's own subscriptions of every area, by id. */
  readonly subscriptions: (principal: HostPrincipal, query?: PortalSubscriptionsQuery) => Promise<ListPage<SubscriptionView>>
  readonly subscription: (principal: HostPrincipal, subscriptionId: string) => Promise<SubscriptionView>
  /** Stops sending; new entries wait. A subscription that is not active does not change. */
  readonly pause: (principal: HostPrincipal, subscriptionId: string) => Promise<SubscriptionView>
  /** Rejects with `subscription_paused_by_operator` if an operator paused it. */
  readonly resume: (principal: HostPrincipal, subscriptionId: string) => Promise<SubscriptionView>
  /** Sends a signed test event to the endpoint. */
  readonly test: (principal: HostPrincipal, subscriptionId: string) => Promise<PortalTestResult>
  /** The caller's own deliveries, newest first by default. */
  readonly deliveries: (principal: HostPrincipal, query?: Omit<DeliveriesQuery, "client">) => Promise<ListPage<DeliveryView>>
  readonly delivery: (principal: HostPrincipal, deliveryId: string) => Promise<PortalDelivery>
  /** Sends the same bytes with the same id again. */
  readonly retry: (principal: HostPrincipal, deliveryId: string) => Promise<void>
  /** Where notices of failing endpoints are sent, and whether this service sends e-mail. */
  readonly contact: (principal: HostPrincipal) => Promise<NoticeContactView>
  /** Replaces the e-mail address, and the webhook and the kinds of notices that are given. */
  readonly setContact: (principal: HostPrincipal, contact: NoticeContactSettings) => Promise<NoticeContactView>
  /** Secrets that belong to the caller alone. Never returns a secret's value. */
  readonly secrets: (principal: HostPrincipal, query?: PageQuery) => Promise<ListPage<SecretView>>
  /** Generates a new secret. The previous one keeps signing for `overlapSeconds`, a day by default. */
  readonly rotateSecret: (principal: HostPrincipal, hmacSecretId: string, options?: SecretRotationOptions) => Promise<SigningSecret>
}

export const portalMethodsOf = (run: Run): PortalMethods => {
  const portal = <A, E extends ServiceFailure>(said: HostPrincipal, call: (portal: CustomerPortal["Service"], principal: Principal) => Effect.Effect<A, E>) =>
    run(as(said, CustomerPortal, call))

  return {
    createLink: (tenantId, request) => run(ofTenant(tenantId, PortalAccess, () => Effect.flatMap(makePortalLinks, (create) => create(tenantId, plain(request))))),
    subscriptions: (said, query = {}) => portal(said, (all, principal) => all.subscriptions(principal, plain(query))),
    subscription: (said, id) => portal(said, (all, principal) => all.subscription(principal, id)),
    pause: (said, id) => portal(said, (all, principal) => all.pause(principal, id)),
    resume: (said, id) => portal(said, (all, principal) => all.resume(principal, id)),
    test: (said, id) => portal(said, (all, principal) => all.test(principal, id)),
    deliveries: (said, query = {}) => portal(said, (all, principal) => all.deliveries(principal, plain(query))),
    delivery: (said, id) => portal(said, (all, principal) => all.delivery(principal, id)),
    retry: (said, id) => portal(said, (all, principal) => all.retry(principal, id)),
    contact: (said) => run(as(said, EndpointNotices, (notices, principal) => notices.contact(principal))),
    setContact: (said, contact) => run(as(said, EndpointNotices, (notices, principal) => notices.setContact(principal, contact))),
    secrets: (said, query = {}) => portal(said, (all, principal) => all.secrets(principal, plain(query))),
    rotateSecret: (said, id, options = {}) =>
      portal(said, (all, principal) => Effect.map(all.rotateSecret(principal, id, plain(options)), ({ hmacSecretId, secret }) => ({ hmacSecretId, secret: Redacted.value(secret) })))
  }
}
