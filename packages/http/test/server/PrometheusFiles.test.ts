/** The rules and the dashboard for operators name metrics and labels that the service has, and each alert is tested in both directions. */
import { Backlogs } from "@waybill/core"
import { lostLeasesTotal, unreadableSecretsTotal } from "@waybill/core/delivery"
import { Receiver } from "@waybill/testkit"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { operatorKey, reportedEvent, runningService } from "../TestService.ts"

const textOf = (path: string) => readFileSync(join(import.meta.dirname, "../../../../docs/deploy", path), "utf8")

interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly annotations?: Readonly<Record<string, string>>
}

interface Case {
  readonly alert_rule_test?: ReadonlyArray<{ readonly eval_time: string; readonly alertname: string; readonly exp_alerts: ReadonlyArray<unknown> }>
}

interface Panel {
  readonly title: string
  readonly type: string
  readonly targets?: ReadonlyArray<{ readonly expr: string; readonly legendFormat: string }>
}

const rulesOf = (path: string): ReadonlyArray<Rule> => parse(textOf(path)).groups.flatMap(({ rules }: { readonly rules: ReadonlyArray<Rule> }) => rules)
const alerts = rulesOf("prometheus/alerts.yaml")
const recordings = rulesOf("prometheus/recording.yaml")
const cases: ReadonlyArray<Case> = parse(textOf("prometheus/alerts.test.yaml")).tests
const dashboard = JSON.parse(textOf("grafana/waybill.json"))
const panels: ReadonlyArray<Panel> = dashboard.panels

/** Labels that Prometheus adds to every series. */
const scraped = ["instance", "job"]

const quoted = /"(?:[^"\\]|\\.)*"/g
const metricsIn = (expr: string): ReadonlyArray<string> => expr.replaceAll(quoted, "\"\"").match(/\b[a-z_]*:?waybill[_:][\w:]+|\bup\b/g) ?? []
const listed = (expr: string, words: string) => Array.from(expr.matchAll(new RegExp(`\\b(?:${words})\\s*\\(([^)]*)\\)`, "g")), ([, labels]) => labels!.split(",").map((label) => label.trim())).flat()
const matched = (expr: string) => Array.from(expr.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g), ([, label]) => label!)
const labelsIn = (expr: string) => [...listed(expr, "by|on"), ...matched(expr)]

/** Labels of a metric by its name, from a service that delivered, failed, paused and dropped. */
const servedMetrics = async (): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const service = await runningService()
  const tenant = await service.tenant("acme")
  const subscribeAt = async (name: string, maxAttempts: number) =>
    (await tenant.subscribe(tenant.carrier, { endpointUrl: `https://${name}.example/hook`, delivery: { maxAttempts, batchMaxSize: 1 } })).json.id as string
  await subscribeAt("works", 1)
  await subscribeAt("dead", 1)
  await subscribeAt("gone", 1)
  await subscribeAt("fails", 10)
  const paused = await subscribeAt("paused", 1)
  await service.script("https://dead.example/hook", Receiver.fail(500))
  await service.script("https://gone.example/hook", Receiver.gone)
  await service.script("https://fails.example/hook", Receiver.fail(500))
  expect((await service.send("POST", `/operator/v1/tenants/acme/subscriptions/${paused}/pause`, { key: operatorKey, body: { reason: "moves" } })).status).toBe(200)
  // enough failures to open a breaker, and more entries that wait behind it
  await tenant.publish(...Array.from({ length: 8 }, (_, n) => reportedEvent(`S${n}`)))
  await service.deliver()
  expect((await service.send("PUT", "/operator/v1/tenants/acme/limits", { key: operatorKey, body: { waitingPerSubscription: 1 } })).status).toBe(200)
  expect(await service.run(Effect.flatMap(Backlogs, (backlogs) => backlogs.sweep))).toBeGreaterThan(0)
  const { text } = await service.send("GET", "/metrics", { key: operatorKey })
  const labels = new Map<string, Set<string>>([["up", new Set()], [lostLeasesTotal.id, new Set()], [unreadableSecretsTotal.id, new Set()], ["waybill_mail_attempts_total", new Set(["outcome"])]])
  for (const [, name, list = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = labels.get(name!) ?? new Set()
    for (const [, label] of list.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label!)
    labels.set(name!, known)
  }
  return labels
}

const served = await servedMetrics()

/** Names and labels of an expression that none of `metrics` has. */
const unknownIn = (expr: string, metrics: ReadonlyMap<string, ReadonlySet<string>>, more: ReadonlyArray<string> = []) => {
  const names = metricsIn(expr)
  const labels = new Set([...more, ...names.flatMap((name) => [...metrics.get(name) ?? []])])
  return [...names.filter((name) => !metrics.has(name)), ...labelsIn(expr).filter((label) => !labels.has(label))]
}

/** A recorded series has the labels that its rule groups by; a quantile takes up `le`. */
const recorded = new Map(recordings.map(({ expr, record }) => [record!, new Set(listed(expr, "by").filter((label) => label !== "le"))]))

describe("the alerts", () => {
  it("name metrics and labels that the service has", () => {
    expect(alerts.length).toBeGreaterThan(10)
    for (const { alert, expr } of alerts) {
      expect({ alert, metrics: metricsIn(expr).length > 0, unknown: unknownIn(expr, served, scraped) }).toEqual({ alert, metrics: true, unknown: [] })
    }
  })

  it("say in their summaries only labels that they have", () => {
    for (const { alert, annotations, expr } of alerts) {
      const labels = [...listed(expr, "by"), ...(metricsIn(expr).includes("up") ? scraped : [])]
      const said = Array.from((annotations?.["summary"] ?? "").matchAll(/\$labels\.(\w+)/g), ([, label]) => label!)
      expect({ alert, unknown: said.filter((label) => !labels.includes(label)) }).toEqual({ alert, unknown: [] })
    }
  })

  it("each fire and resolve in a test", () => {
    const tested = new Set(cases.flatMap(({ alert_rule_test: steps = [] }) => {
      const fires = steps.findIndex(({ exp_alerts }) => exp_alerts.length > 0)
      const resolves = steps.slice(fires + 1).some(({ alertname, exp_alerts }) => exp_alerts.length === 0 && alertname === steps[fires]?.alertname)
      return fires >= 0 && resolves ? [steps[fires]!.alertname] : []
    }))
    expect([...tested].sort()).toEqual(alerts.map(({ alert }) => alert).sort())
  })
})

describe("the recording rules", () => {
  it("name metrics and labels that the service has", () => {
    for (const { expr, record } of recordings) {
      expect({ record, metrics: metricsIn(expr).length > 0, unknown: unknownIn(expr, served) }).toEqual({ record, metrics: true, unknown: [] })
    }
  })

  it("are named after their labels, one name each", () => {
    expect(recorded.size).toBe(recordings.length)
    for (const [name, labels] of recorded) expect(name.split(":")[0]).toBe([...labels].join("_") || "waybill")
  })

  it("are all shown by the dashboard", () => {
    const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr))))
    expect([...recorded.keys()].filter((name) => !shown.has(name))).toEqual([])
  })
})

describe("the dashboard", () => {
  it("names recorded series and labels only", () => {
    for (const { targets = [], title } of panels) {
      for (const { expr, legendFormat } of targets) {
        const labels = new Set(metricsIn(expr).flatMap((name) => [...recorded.get(name) ?? []]))
        const inLegend = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label]) => label!).filter((label) => !labels.has(label))
        expect({ title, metrics: metricsIn(expr).length, unknown: [...unknownIn(expr, recorded), ...inLegend] }).toEqual({ title, metrics: 1, unknown: [] })
      }
    }
  })

  it("chooses from a label that the series of tenants have", () => {
    const [, tenant] = dashboard.templating.list
    const [, prefix, label] = /^label_values\(\{__name__=~"(\w+:waybill_)\.\*"\}, (\w+)\)$/.exec(tenant.query.query)!
    const chosen = [...recorded].filter(([name]) => name.startsWith(prefix!))
    expect(chosen.length).toBeGreaterThan(0)
    for (const [, labels] of chosen) expect([...labels]).toContain(label)
  })

  it("has panels that do not overlap, with ids of their own", () => {
    const taken = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }: { readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number } }) =>
      Array.from({ length: h * w }, (_, n) => `${x + n % w} ${y + Math.floor(n / w)}`))
    expect(new Set(taken).size).toBe(taken.length)
    expect(new Set(dashboard.panels.map(({ id }: { readonly id: number }) => id)).size).toBe(panels.length)
  })
})
