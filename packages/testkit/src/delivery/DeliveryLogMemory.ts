/** What operators see of lanes and deliveries, in memory. */
import {
  type CarryingDelivery,
  type DeliveryQuery,
  type DeliverySummary,
  type EntryKeys,
  type LaneOverview,
  type LaneQuery,
  overviewCount
} from "@waybill/core"
import { compareText } from "../shared/CodePoints.ts"
import type { Delivery, Lane, LaneRows } from "./LaneTables.ts"

export const laneOverviews = (rows: LaneRows, tenantId: string, { after, client, limit, state }: LaneQuery): ReadonlyArray<LaneOverview> => {
  const lanes = [...rows.tenant(tenantId).lanes.values()]
    .filter((lane) => (state === undefined || lane.status.state === state) && (client === undefined || lane.settings.client === client) && (after === undefined || compareText(lane.laneId, after) > 0))
    .sort((a, b) => compareText(a.laneId, b.laneId))
    .slice(0, limit)
  const deliveries = newestFirst(rows, tenantId)
  return lanes.map((lane) => overviewOf(lane, deliveries.filter((each) => each.laneId === lane.laneId)))
}

const overviewOf = (lane: Lane, deliveries: ReadonlyArray<Delivery>): LaneOverview => ({
  laneId: lane.laneId,
  client: lane.settings.client,
  source: lane.settings.source,
  endpointUrl: lane.settings.endpointUrl,
  hmacSecretId: lane.settings.hmacSecretId,
  policy: lane.settings.policy,
  whenDead: lane.settings.whenDead,
  status: lane.status,
  held: lane.held,
  breaker: lane.breaker,
  rateMark: lane.rateMark,
  waiting: Math.min(overviewCount, lane.byRef.size),
  oldestWaitingAt: oldestOf(lane),
  inFlight: Math.min(overviewCount, lane.unsettled.size),
  dead: Math.min(overviewCount, deliveries.filter((each) => each.state === "dead").length),
  dropped: lane.dropped,
  dueAt: lane.status.state === "active" ? lane.dueAt : undefined,
  lastAttempt: deliveries.find((each) => each.records.length > 0)?.records.at(-1)
})

export const oldestOf = (lane: Lane): number | undefined =>
  lane.byRef.size === 0 ? undefined : [...lane.byRef.values()].reduce((oldest, each) => Math.min(oldest, each.queuedAt), Infinity)

export const summaryOf = (delivery: Delivery): DeliverySummary => ({
  deliveryId: delivery.deliveryId,
  laneId: delivery.laneId,
  state: delivery.state,
  createdAt: delivery.createdAt,
  settledAt: delivery.settledAt,
  dueAt: delivery.dueAt,
  events: delivery.payloads.length,
  attempts: delivery.records,
  reason: delivery.reason
})

export const listed = (rows: LaneRows, tenantId: string, query: DeliveryQuery): ReadonlyArray<DeliverySummary> => {
  const turn = query.order === "newest" ? -1 : 1
  return [...rows.tenant(tenantId).deliveries.values()]
    .filter((each) =>
      (query.state === undefined || each.state === query.state) &&
      (query.laneId === undefined || each.laneId === query.laneId) &&
      (query.client === undefined || rows.find(tenantId, each.laneId)?.settings.client === query.client) &&
      (query.since === undefined || each.createdAt >= query.since) &&
      (query.after === undefined || turn * compareText(each.deliveryId, query.after) > 0)
    )
    .sort((a, b) => turn * compareText(a.deliveryId, b.deliveryId))
    .slice(0, query.limit)
    .map(summaryOf)
}

export const carrying = (
  rows: LaneRows,
  tenantId: string,
  keys: ReadonlyArray<EntryKeys>,
  { limit, newest }: { readonly newest: number; readonly limit: number }
): { readonly deliveries: ReadonlyArray<CarryingDelivery>; readonly since: number | undefined } => {
  const all = newestFirst(rows, tenantId)
  const looked = all.slice(0, newest)
  const deliveries = looked
    .filter((delivery) => keys.some((each) => each.sources.includes(delivery.source) && each.keys.some((key) => delivery.keys.includes(key))))
    .slice(0, limit)
    .map((delivery) => ({ ...summaryOf(delivery), source: delivery.source }))
  return { deliveries, since: all.length > newest ? looked.at(-1)!.createdAt : undefined }
}

const newestFirst = (rows: LaneRows, tenantId: string): ReadonlyArray<Delivery> =>
  [...rows.tenant(tenantId).deliveries.values()].sort((a, b) => compareText(b.deliveryId, a.deliveryId))
