/**
 * Metrics of unhealthy subscriptions, read from the database, so every process exposes the same values. Series that name a
 * tenant and a subscription are for operators only, and only of those that are unhealthy now, so that there are never many.
 */
import { areaOfSource, subscriptionsOfArea } from "@waybill/core"
import type { DeliveryTroubles, TroubledDestination } from "@waybill/core/delivery"
import { Effect, Metric } from "effect"

const seconds = { unit: "seconds" }

const paused = Metric.gauge("waybill_subscriptions_paused", { description: "Subscriptions that the service paused, by area." })
const breakersOpen = Metric.gauge("waybill_subscriptions_breaker_open", { description: "Active subscriptions whose circuit breaker is not closed, by area." })
const dead = Metric.gauge("waybill_subscriptions_recent_dead_deliveries", { description: "Dead letters of the last 24 hours that were not retried or dismissed, by area." })
const waiting = Metric.gauge("waybill_subscriptions_oldest_waiting_seconds", { description: "How long the oldest entry has waited, by area.", attributes: seconds })

/** Every area has a value, so that it falls to 0 after a recovery. */
export const updateAreas = ({ sources }: DeliveryTroubles): Effect.Effect<void> =>
  Effect.forEach(new Set([...Object.keys(subscriptionsOfArea), ...sources.map(({ source }) => areaOfSource(source))]), (area) => {
    const own = sources.filter(({ source }) => areaOfSource(source) === area)
    const sum = (of: "paused" | "breakersOpen" | "dead") => own.reduce((total, each) => total + each[of], 0)
    return Effect.all([
      Metric.update(Metric.withAttributes(paused, { area }), sum("paused")),
      Metric.update(Metric.withAttributes(breakersOpen, { area }), sum("breakersOpen")),
      Metric.update(Metric.withAttributes(dead, { area }), sum("dead")),
      Metric.update(Metric.withAttributes(waiting, { area, ...seconds }), Math.max(0, ...own.map(({ waitingMillis = 0 }) => waitingMillis)) / 1000)
    ], { discard: true })
  }, { discard: true })

/** A gauge with a value for each subscription that has one. */
const namedGauge = (name: string, help: string, valueOf: (destination: TroubledDestination) => number) => ({ name, help, valueOf })

const named = [
  namedGauge("waybill_subscription_paused", "1 for a subscription that the service paused.", (each) => each.paused ? 1 : 0),
  namedGauge("waybill_subscription_breaker_open", "1 for an active subscription whose circuit breaker is not closed.", (each) => each.breakerOpen ? 1 : 0),
  namedGauge("waybill_subscription_recent_dead_deliveries", "Dead letters of a subscription in the last 24 hours that were not retried or dismissed.", (each) => each.dead),
  namedGauge("waybill_subscription_oldest_waiting_seconds", "How long the oldest entry of an unhealthy subscription has waited.", (each) => (each.waitingMillis ?? 0) / 1000)
]

/** Text of the series with tenant and subscription: the metrics of the process cannot forget one. */
export const namedSeries = ({ destinations }: DeliveryTroubles): string =>
  named.flatMap(({ help, name, valueOf }) => {
    const lines = destinations.flatMap((each) => {
      const value = valueOf(each)
      return value === 0 ? [] : [`${name}{${labelsOf(each)}} ${value}`]
    })
    return lines.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines]
  }).map((line) => `${line}\n`).join("")

const labelsOf = ({ destinationId, source, tenantId }: TroubledDestination): string =>
  Object.entries({ tenant: tenantId, subscription: destinationId, area: areaOfSource(source) })
    .map(([label, value]) => `${label}="${value.replaceAll(/[\\"\n]/g, (character) => character === "\n" ? "\\n" : `\\${character}`)}"`).join(",")
