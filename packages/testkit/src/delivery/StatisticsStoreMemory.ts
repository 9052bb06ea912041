/** Delivery statistics in memory. */
import { hourMillis, minuteMillis, type StatisticsRange, type StatisticsRow, StatisticsStore } from "@waybill/core/delivery"
import { storeLayer } from "../shared/StoreLayer.ts"
import { TenantRows } from "../shared/TenantRows.ts"

interface Row extends StatisticsRow {
  readonly destinationId: string
  readonly client?: string | undefined
}

type Rows = Map<string, Row>

class TenantCounts {
  readonly minutes: Rows = new Map()
  readonly hours: Rows = new Map()
}

export const layer = storeLayer(StatisticsStore, {}, ({ journal, onPurge, operate }) => {
  const tenants = new TenantRows({ journal, onPurge }, () => new TenantCounts())

  const merge = (tenantId: string, added: Row) => {
    const { hours, minutes } = tenants.of(tenantId)
    for (const [rows, width] of [[minutes, minuteMillis], [hours, hourMillis]] as const) {
      const at = Math.floor(added.at / width) * width
      const name = `${added.destinationId} ${at} ${added.client ?? ""}`
      journal.put(rows, name, { ...sum([rows.get(name) ?? { ...added, deliveries: 0, failures: 0, latencyMillis: 0, maxLatencyMillis: 0, waiting: undefined }, added]), at })
    }
  }

  const isOf = (of: StatisticsRange["of"]): (row: Row) => boolean => {
    if ("client" in of) return ({ client }) => client === of.client
    const ids = new Set(of.destinationIds)
    return ({ client, destinationId }) => client === undefined && ids.has(destinationId)
  }

  return {
    add: (tenantId, counts) =>
      operate(() =>
        journal.asRecord(() => {
          for (const each of counts) merge(tenantId, { ...each, waiting: undefined })
        })
      ),
    sample: (tenantId, at, samples) =>
      operate(() =>
        journal.asRecord(() => {
          for (const each of samples) merge(tenantId, { deliveries: 0, failures: 0, latencyMillis: 0, maxLatencyMillis: 0, at, ...each })
        })
      ),
    read: (tenantId, { from, of, resolution, stepMillis, to }) =>
      operate(() => {
        const isWanted = isOf(of)
        const inRange = [...tenants.byTenant.get(tenantId)?.[resolution].values() ?? []].filter((row) => isWanted(row) && row.at >= from && row.at < to)
        const stepped = inRange.map((row) => ({ ...row, at: Math.floor(row.at / stepMillis) * stepMillis }))
        const each = grouped(stepped, ({ at, destinationId }) => `${destinationId} ${at}`).map((rows) => ({ ...sum(rows), waiting: most(rows) }))
        if (!("client" in of)) return each
        return grouped(each, ({ at }) => String(at)).map((rows) => ({ ...sum(rows), waiting: total(rows), destinationId: undefined }))
      }),
    prune: (tenantId, before) =>
      operate(() =>
        journal.asRecord(() => {
          const own = tenants.byTenant.get(tenantId)
          if (own === undefined) return 0
          let pruned = 0
          for (const [rows, oldest] of [[own.minutes, before.minutes], [own.hours, before.hours]] as const) {
            for (const [name, { at }] of rows) {
              if (at >= oldest) continue
              journal.drop(rows, name)
              pruned += 1
            }
          }
          return pruned
        })
      )
  }
})

const sum = (rows: ReadonlyArray<Row>): Row =>
  rows.reduce((all, row) => ({
    ...all,
    deliveries: all.deliveries + row.deliveries,
    failures: all.failures + row.failures,
    latencyMillis: all.latencyMillis + row.latencyMillis,
    maxLatencyMillis: Math.max(all.maxLatencyMillis, row.maxLatencyMillis),
    waiting: most([all, row])
  }))

const sampled = (rows: ReadonlyArray<Row>): ReadonlyArray<number> => rows.flatMap(({ waiting }) => waiting === undefined ? [] : [waiting])

const most = (rows: ReadonlyArray<Row>): number | undefined => sampled(rows).reduce<number | undefined>((all, one) => Math.max(all ?? 0, one), undefined)

const total = (rows: ReadonlyArray<Row>): number | undefined => sampled(rows).reduce<number | undefined>((all, one) => (all ?? 0) + one, undefined)

const grouped = (rows: ReadonlyArray<Row>, keyOf: (row: Row) => string): ReadonlyArray<ReadonlyArray<Row>> => [...Map.groupBy(rows, keyOf).values()]
