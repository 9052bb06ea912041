/** HTTP handlers of area D over core's use cases. */
import { TransitEvents, TransitSubscriptions } from "@waybill/core/transit-events"
import { Effect } from "effect"
import { encodedPage, json, noContent, pageOf } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import { httpDate } from "../shared/HttpDate.ts"
import { headersOfPage } from "../shared/Paging.ts"
import type { TransitEventsContract } from "./TransitEventsContract.ts"

export const TransitEventsHandlers = Effect.map(Effect.all([TransitEvents, TransitSubscriptions]), ([transitEvents, subscriptions]): HandlersOf<typeof TransitEventsContract> => ({
  listEvents: ({ principal, query, site }) =>
    Effect.map(transitEvents.list(principal, query), (page) =>
      encodedPage(page, {
        ...headersOfPage(page, query, site, page.nextCursor),
        // SPEC-GAP-D26: published rules require the time of generation, and no body has a member for it.
        "last-modified": httpDate(site.now)
      })),
  listSubscriptions: ({ principal, query, site }) => Effect.flatMap(subscriptions.list(principal, query), (page) => pageOf(page, headersOfPage(page, query, site))),
  createSubscription: ({ body, principal, site }) =>
    Effect.map(subscriptions.create(principal, body), (created) =>
      json(created, { status: 201, headers: { location: site.urlOf(`${site.path}/${created.id}`) } })),
  getSubscription: ({ params, principal }) => Effect.map(subscriptions.get(principal, params.subscriptionId), json),
  updateSubscription: ({ body, params, principal }) => Effect.map(subscriptions.patch(principal, params.subscriptionId, body), json),
  deleteSubscription: ({ params, principal }) => Effect.as(subscriptions.remove(principal, params.subscriptionId), noContent)
}))
