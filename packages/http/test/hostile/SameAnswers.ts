/** Sends the same calls to two services on different storages, and compares responses and deliveries. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import type { WaybillStorage } from "@waybill/core"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createWaybill, type HostOperator, type HostPrincipal, type Waybill } from "../../src/index.ts"
import { comparableText, differenceOf } from "./ComparableText.ts"
import { type Operation, operations } from "./Operations.ts"
import { requestWith } from "./Requests.ts"
import { type Subject, subjectNamed } from "./Subject.ts"

interface ComparedServices {
  readonly storages: readonly [WaybillStorage<any>, WaybillStorage<any>]
  readonly seed: number
  readonly calls: number
}

export interface Comparison {
  /** Empty if the services answer alike. */
  readonly differences: ReadonlyArray<string>
  readonly deliveries: number
  /** Pages after the first of a list. */
  readonly pages: number
  /** Names of the calls that were accepted at least once. */
  readonly accepted: ReadonlySet<string>
}

const tenants = ["acme", "bolt"] as const
const words = ["qa", "qb", "qc"] as const
const operator: HostOperator = { client: "staff", roles: ["operator"] }

/** Calls whose answers are chosen by chance or by time, calls that end a tenant, and those that write elsewhere. */
const leftOut = [
  "freight-charges.testWebhook", "operator.createPortalLink", "operator.deleteTenant", "operator.suspendTenant", "operator.getStatistics", "operator.getHealth",
  // calls of clients are recorded within a second
  "operator.listAudit",
  // deliveries of the same millisecond have no order
  "operator.getShipmentJourney",
  // counts what both services did
  "system.metrics"
]
const compared = operations.filter(({ contract, endpoint, id }) => contract.area !== "portal" && endpoint.access !== "public" && !leftOut.includes(id))
const writes = compared.filter(({ id }) => /intake\.(?:register|report)|create|subscribe$|upload/u.test(id))

/** Lists of intake, by their calls. */
const lists: Readonly<Record<string, string>> = {
  registerShipments: "shipments",
  reportStatusUpdates: "updates",
  reportTransitEvents: "events",
  reportFreightCharges: "charges"
}

/** Ids that each service assigns by itself. */
const assigned = ["pickupId", "subscriptionId", "chargeSubscriptionId", "transactionId", "deliveryId", "keyId"] as const
type Assigned = Partial<Record<typeof assigned[number], string>>

const assignedBy: Readonly<Record<string, (json: any) => Assigned>> = {
  "pickups.createPickup": (json) => ({ pickupId: json[0]?.carrierPickupNumber ?? undefined }),
  "intake.listPickupChanges": (json) => ({ pickupId: json.data.at(-1)?.pickupId }),
  "transit-events.createSubscription": (json) => ({ subscriptionId: json.id }),
  "intake.createPickupSubscription": (json) => ({ subscriptionId: json.id }),
  "freight-charges.createChargeSubscription": (json) => ({ chargeSubscriptionId: json.subscriptionId }),
  "shipment-status.subscribe": (json) => ({ transactionId: json.transactionId }),
  "operator.createApiKey": (json) => ({ keyId: json.id }),
  "operator.listDeliveries": (json) => ({ deliveryId: json.data[0]?.deliveryId })
}

interface Side {
  readonly waybill: Waybill<any>
  /** In the order of the calls that assigned them, so the same place means the same object on both sides. */
  readonly ids: Array<Assigned>
}

interface Asked {
  readonly operation: Operation
  readonly principal: HostPrincipal | HostOperator
  readonly subject: Subject
  readonly seed: number
  readonly intent: "valid" | "almost" | "garbage"
}

interface Answered {
  readonly target: string
  readonly shown: string
  readonly status: number
  readonly body: string
  readonly text: string
}

/** Accepts what is sent to it, but for paths that are gone. */
const startReceiver = async () => {
  const received: Array<string> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (chunk: string) => void (body += chunk)).on("end", () => {
      received.push(`${request.url} ${comparableText(body)}`)
      response.writeHead(request.url === "/gone" ? 410 : 200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { origin, received, close: () => new Promise((resolve) => server.close(resolve)) }
}

/** Few enough that calls exceed them. */
const lowLimits = { eventSubscriptionsPerClient: 3, chargeSubscriptionsPerClient: 1, statusSubscriptionsPerClient: 3, documentBytes: 30_000 }

const startSide = async (storage: WaybillStorage<any>, { decidesLater, hasLowLimits }: { readonly decidesLater: boolean; readonly hasLowLimits: boolean }): Promise<Side> => {
  const waybill: Waybill<any> = createWaybill({
    storage,
    authenticate: async (request) => JSON.parse(request.headers.get("x-as") ?? "null") ?? undefined,
    sealingKeys: [new Uint8Array(32).fill(7)],
    egressAllow: ["127.0.0.1"],
    othersLookupsPerMinute: 1_000_000,
    log: () => {},
    ...(decidesLater ? { pickupDesk: { waitSeconds: 0 } } : {})
  })
  for (const tenantId of tenants) {
    await waybill.tenants.put(tenantId, { name: tenantId })
    if (hasLowLimits) await waybill.limits.put(tenantId, lowLimits)
    for (const id of ["main", ...words.map((word) => `${word}-secret`)]) await waybill.secrets.put(tenantId, id, { anyClient: true })
  }
  return { waybill, ids: [] }
}

const principalFor = ({ contract, endpoint }: Operation, random: SeededRandom): HostPrincipal | HostOperator => {
  if (endpoint.access === "operator") return operator
  const tenantId = random.share(0.85) ? "acme" : "bolt"
  const isCarriers = contract.area === "intake" || (contract.area === "invoices" && endpoint.method !== "GET")
  return random.share(0.93) === isCarriers
    ? {
      tenantId,
      roles: ["carrier"],
      ...random.pick([{ client: "tms" }, { client: "tms" }, { client: "tms-dot", carrier: { dot: "1000001" } }, { client: "tms-mc", carrier: { mc: "MC-2000002" } }])
    }
    : { tenantId, roles: ["customer"], ...random.pick([{ client: "shop", accounts: ["A1"] }, { client: "broker", accounts: ["A2", "A3"] }, { client: "all", accounts: ["A1", "A2", "A3", "A4"] }]) }
}

const subjectFor = (principal: HostPrincipal | HostOperator, origin: string, random: SeededRandom): Subject => {
  const word = random.pick(words)
  const accounts = "accounts" in principal && random.share(0.9) ? principal.accounts! : ["A1", "A2", "A3"]
  return subjectNamed(word, {
    tenantId: "tenantId" in principal ? principal.tenantId : "acme",
    accounts: [random.pick(accounts)],
    dot: random.pick(["1000001", "1000002"]),
    mc: random.pick(["MC-2000001", "MC-2000002"]),
    eventId: `${word}-event-${random.below(4)}`,
    billId: `${word}BILL${random.below(3)}`,
    uniqueID: `${word}-invoice-${random.below(3)}`,
    invoiceNumber: `${word}-4711-${random.below(2)}`,
    webhookUrl: `${origin}/${random.share(0.1) ? "gone" : `${word}-${random.below(3)}`}`,
    client: random.pick(["shop", "broker", "all"]),
    hmacSecretId: random.share(0.9) ? "main" : `${word}-secret`
  })
}

/** The subject with the ids that this service gave to the same objects. */
const onSide = ({ ids }: Side, subject: Subject, place: number): Subject => {
  const own = assigned.flatMap((name) => {
    const known = ids.flatMap((each) => each[name] ?? [])
    return known.length === 0 ? [] : [[name, known[place % known.length]!]]
  })
  return { ...subject, ...Object.fromEntries(own) }
}

const requestFor = async ({ intent, operation, principal, seed }: Asked, subject: Subject) => {
  const keys = { right: { "x-as": JSON.stringify(principal) }, others: ["x"] }
  const { request, shown } = requestWith(operation, subject, keys, new SeededRandom(seed), intent)
  if (intent !== "valid" || seed % 2 === 0) return { request, shown }
  if (operation.endpoint.query?.["limit"] !== undefined) {
    const url = new URL(request.url)
    url.searchParams.set("limit", String(1 + seed % 5))
    return { request: new Request(url, { headers: request.headers }), shown: `GET ${url.pathname}${url.search}` }
  }
  const list = lists[operation.name]
  if (list === undefined) return { request, shown }
  const body = await request.json() as Record<string, Array<unknown>>
  for (let more = 1; more <= 3; more++) {
    const word = words[(seed + more) % words.length]!
    const other = { ...subject, shipmentId: `${word}-shipment`, proNumber: `${word}PRO`, eventId: `${word}-event-${(seed >> more) % 6}`, billId: `${word}BILL${(seed >> more) % 3}` }
    const next = await requestWith(operation, other, keys, new SeededRandom(seed + more), "valid").request.json() as Record<string, Array<unknown>>
    body[list]!.push(...next[list]!)
  }
  return { request: new Request(request.url, { method: request.method, headers: request.headers, body: JSON.stringify(body) }), shown: `${operation.id} ${JSON.stringify(body)}` }
}

/** Counts of a subscription that a 410 paused, as one sum: how many of its deliveries had begun before the 410 arrived is chance. */
const withoutBegun = (text: string): string =>
  text.replaceAll(
    /("reason":"The receiver answered 410 Gone\."[^{}]*)"waiting":(\d+),"oldestWaitingAt":[^,]+,"inFlight":(\d+)/gu,
    (_, before: string, waiting: string, inFlight: string) => `${before}"unsettled":${Number(waiting) + Number(inFlight)}`
  )

const ask = async ({ waybill }: Side, request: Request, shown: string): Promise<Answered> => {
  const response = await waybill.handler(request)
  const body = await response.text()
  return { target: request.url, shown, status: response.status, body, text: `${response.status} ${response.headers.get("content-type")} ${withoutBegun(comparableText(body))}` }
}

type Pair<A> = readonly [A, A]

const onBoth = async <A>([one, other]: Pair<Side>, use: (side: Side, at: 0 | 1) => Promise<A>): Promise<Pair<A>> => [await use(one, 0), await use(other, 1)]

const jsonOf = (text: string): any => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The pages after the first. */
const readPages = async function*(sides: Pair<Side>, principal: Asked["principal"], first: Pair<Answered>): AsyncGenerator<Pair<Answered>> {
  let answers = first
  for (let page = 2; page < 12; page++) {
    const cursors = answers.map(({ body }) => jsonOf(body)?.nextCursor as unknown)
    if (!cursors.every((each) => typeof each === "string")) return
    answers = await onBoth(sides, (side, at) => {
      const { shown, target } = first[at]
      const next = `${target}${target.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursors[at] as string)}`
      return ask(side, new Request(next, { headers: { "x-as": JSON.stringify(principal) } }), `page ${page} of ${shown}`)
    })
    yield answers
  }
}

export const compareServices = async ({ calls, seed, storages }: ComparedServices): Promise<Comparison> => {
  const receiver = await startReceiver()
  const random = new SeededRandom(seed)
  const settings = { decidesLater: seed % 2 === 1, hasLowLimits: seed % 2 === 0 }
  const sides: Pair<Side> = [await startSide(storages[0], settings), await startSide(storages[1], settings)]
  const differences: Array<string> = []
  const accepted = new Set<string>()
  let deliveries = 0
  let pages = 0
  const compare = (call: number, [one, other]: Pair<string>, shown: string) => {
    if (one !== other) differences.push(`seed ${seed}, call ${call}: ${shown}\n${differenceOf(one, other)}`)
  }
  try {
    for (let call = 0; call < calls; call++) {
      if (call % 25 === 24) {
        const arrived = await onBoth(sides, async ({ waybill }) => {
          while (await waybill.runOnce() > 0);
          const received = receiver.received.splice(0)
          // The first 410 pauses the subscription; which other deliveries are already on their way is chance.
          return [...received.filter((each) => !each.startsWith("/gone ")), ...(received.some((each) => each.startsWith("/gone ")) ? ["/gone"] : [])].sort()
        })
        deliveries += arrived[0].length
        compare(call, [arrived[0].join("\n"), arrived[1].join("\n")], "deliveries")
        continue
      }
      const operation = random.pick(random.share(0.5) ? writes : compared)
      const principal = principalFor(operation, random)
      const asked: Asked = {
        operation,
        principal,
        subject: subjectFor(principal, receiver.origin, random),
        seed: random.below(2 ** 30),
        intent: random.share(0.85) ? "valid" : random.share(0.8) ? "almost" : "garbage"
      }
      const place = random.below(1000)
      const answers = await onBoth(sides, async (side) => {
        const { request, shown } = await requestFor(asked, onSide(side, asked.subject, place))
        return ask(side, request, shown)
      })
      compare(call, [answers[0].text, answers[1].text], answers[0].shown)
      if (answers.some(({ status }) => status >= 300)) continue
      accepted.add(operation.id)
      const assign = assignedBy[operation.id]
      const ids = answers.map(({ body }) => jsonOf(body)).map((json) => json === undefined ? undefined : assign?.(json))
      if (ids.every((each) => each !== undefined)) sides.forEach((side, at) => void side.ids.push(ids[at]!))
      if (operation.endpoint.method !== "GET") continue
      for await (const next of readPages(sides, principal, answers)) {
        pages += 1
        compare(call, [next[0].text, next[1].text], next[0].shown)
      }
    }
  } finally {
    for (const { waybill } of sides) await waybill.stop()
    await receiver.close()
  }
  return { differences, deliveries, pages, accepted }
}
