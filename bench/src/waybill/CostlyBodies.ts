/** For every call, invalid bodies with the highest cost, generated from its contract, and the largest accepted bodies. */
import { type ListLimits, listLimitsOf } from "@waybill/core"
import { areaContracts, type ContractSpec, IntakeContract, OperatorContract } from "@waybill/http"
import { billChange, documentsSample, invoiceSample, pickupRequest, postedShipment, requestedShipment } from "@waybill/testkit"
import type { Schema } from "effect"
import { sampleEvent } from "./SampleEvent.ts"
import { accountOf, tenantId } from "./Tenant.ts"

export interface RequestCall {
  readonly endpoint: string
  readonly label: string
  readonly method: string
  readonly path: string
  readonly as: "carrier" | "customer" | "operator"
  readonly contentType: string | undefined
  /** The body differs by attempt if repeating it would be a duplicate. */
  readonly body: (attempt: number) => string | undefined | Promise<string>
  /** A refused call then fails the run. */
  readonly accepted: boolean
}

/** The members of an endpoint that are used here. */
interface Endpoint {
  readonly access: string
  readonly method: string
  readonly path: string
  readonly body?: {
    readonly schema: Schema.Top
    readonly maxBytes?: number
    readonly streamed?: boolean
    readonly contentTypes?: ReadonlyArray<string>
  }
}

const mountedContracts: ReadonlyArray<readonly [ContractSpec, string]> = [
  ...areaContracts.map(({ base, contract }) => [contract, base] as const),
  [IntakeContract, "/intake"],
  [OperatorContract, "/operator"]
]

/** The paths of all lists of a schema. A list within another list is in its first item. */
const listsIn = (limits: ListLimits, path: ReadonlyArray<string | 0> = []): ReadonlyArray<ReadonlyArray<string | 0>> => [
  ...(limits.maxItems === undefined ? [] : [path]),
  ...(limits.items === undefined ? [] : listsIn(limits.items, [...path, 0])),
  ...[...limits.members ?? []].flatMap(([name, inner]) => listsIn(inner, [...path, name]))
]

const nest = (path: ReadonlyArray<string | 0>, text: string): string =>
  path.reduceRight<string>((inner, part) => part === 0 ? `[${inner}]` : `{${JSON.stringify(part)}:${inner}}`, text)

/** `piece` repeated with commas, up to `bytes`. */
const repeated = (piece: string, bytes: number): string => Array<string>(Math.max(1, Math.floor(bytes / (piece.length + 1)))).fill(piece).join(",")

const objectWithMembers = (bytes: number): string => `{${Array.from({ length: Math.floor(bytes / 12) }, (_, n) => `"${String(n).padStart(8, "m")}":0`).join(",")}}`.slice(0, bytes)

/** Every list at its maximum length, with items that lack all required members. */
const fullOfFaults = (limits: ListLimits, left: { values: number }): string => {
  if (limits.maxItems !== undefined) {
    const items: Array<string> = []
    const share = Math.max(20, Math.floor(left.values / limits.maxItems))
    while (items.length < limits.maxItems && left.values > 0) {
      const own = { values: Math.min(share, left.values) }
      items.push(limits.items === undefined ? "{\"unknown\":\"text\"}" : fullOfFaults(limits.items, own))
      left.values -= Math.max(1, Math.min(share, left.values) - own.values)
    }
    return `[${items.join(",")}]`
  }
  const inner = [...limits.members ?? []].map(([name, each]) => `${JSON.stringify(name)}:${fullOfFaults(each, left)}`)
  left.values -= inner.length
  return `{${[...inner, "\"unknown\":\"text\""].join(",")}}`
}

const worstOf = (limits: ListLimits, bytes: number): Readonly<Record<string, () => string>> => {
  // below the limit of the body, with the JSON around it
  const size = bytes - 400
  const text = () => "x".repeat(size)
  return {
    ...Object.fromEntries(listsIn(limits).map((path) => [`list bomb at /${path.join("/")}`, () => nest(path, `[${repeated("{}", size)}]`)])),
    "bare list": () => `[${repeated("{}", size)}]`,
    "bare list of numbers": () => `[${repeated("0", size)}]`,
    "deep": () => `${"[".repeat(size / 2)}${"]".repeat(size / 2)}`,
    "many members": () => objectWithMembers(size),
    "unknown list": () => `{"unknown":[${repeated("[]", size)}]}`,
    "long text": () => `{"unknown":"${text()}"}`,
    "bare text": () => `"${text()}"`,
    "escaped text": () => `{"unknown":"${"\\u00e9".repeat(size / 6)}"}`,
    "blanks": () => `${" ".repeat(size)}{}`,
    "full of faults": () => fullOfFaults(limits, { values: size / 40 }),
    "no JSON": () => `{"unknown":[${repeated("{}", 4000)},${text()}`
  }
}

/** Bodies of a quick run: those that block the loop for longest or use most memory. */
const isInQuickRun = (label: string): boolean => /full of faults|many members/.test(label)

export const many = <A>(count: number, make: (n: number) => A): ReadonlyArray<A> => Array.from({ length: count }, (_, n) => make(n))

export const later = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)

const long = "n".repeat(9_000)

/** The largest valid bodies, by endpoint. */
const largestValid: Readonly<Record<string, Readonly<Record<string, (attempt: number) => unknown>>>> = {
  reportTransitEvents: {
    "1,000 events": () => ({ events: many(1000, (n) => sampleEvent(`R${n % 100}`, [accountOf(0)])) }),
    "1,000 large events": () => ({ events: many(1000, (n) => ({ ...sampleEvent(`WIDE${n % 100}`, [accountOf(0)]), notes: long })) })
  },
  registerShipments: {
    "1,000 shipments": (attempt) => ({ shipments: many(1000, (n) => postedShipment(`H${n}`, { ProNumber: `PRO${attempt}-${n}`, accounts: [accountOf(0)] })) })
  },
  reportStatusUpdates: {
    "1,000 updates": (attempt) => ({
      updates: many(1000, (n) => ({ shipmentId: `H${n}`, shipmentMilestoneStatus: "In Transit", shipmentStatus: "Enroute", occurredAt: `2026-11-20T08:1${attempt}:00-06:00` }))
    })
  },
  reportFreightCharges: {
    "1,000 charges": (attempt) => ({ charges: many(1000, (n) => billChange("created", `B${attempt}-${n}`, { account: accountOf(0) })) })
  },
  createInvoice: {
    "5,000 charges": (attempt) => {
      const sample = invoiceSample({ uniqueID: `large-${attempt}`, accounts: [accountOf(0)] })
      return { ...sample, invoiceCharges: many(5000, () => sample.invoiceCharges[0]) }
    }
  },
  createPickup: {
    "400 shipments": (attempt) => {
      const sample = pickupRequest({ day: later })
      return { ...sample, shipmentDetails: many(400, (n) => requestedShipment({ proNumber: `P${attempt}-${n}` })) }
    }
  },
  createApiKey: { "10,000 accounts": () => ({ name: "many", roles: ["customer"], accounts: many(10_000, accountOf) }) },
  putSecret: { "10,000 accounts": () => ({ accounts: many(10_000, accountOf) }) },
  createSubscription: {
    "1,000 shipment ids": () => ({ endpointUrl: "https://example.com/hook", hmacSecretId: "secret", filters: { shipmentIds: many(1000, (n) => `R${n}`) } })
  },
  createChargeSubscription: {
    "1,000 accounts": (attempt) => ({
      webhookUrl: "https://example.com/hook",
      accounts: many(1000, (n) => accountOf(1000 * (attempt + 1) + n)),
      dataOptions: { shipmentDataType: "all_monitored_events" },
      billScope: "subscribed_accounts",
      frequency: "real_time"
    })
  },
  subscribe: { "1,000 references": () => ({ referenceNumbers: many(1000, (n) => `PRO${n}`), webhookUrl: "https://example.com/hook" }) },
  uploadDocument: {
    "8 MB file": () => {
      const sample = documentsSample()
      const [document] = sample.documents
      return { ...sample, documents: [{ ...document, files: [Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(8 << 20, 7)]).toString("base64")] }] }
    }
  }
}

export const costlyBodies = (quick: boolean): ReadonlyArray<RequestCall> =>
  mountedContracts.flatMap(([{ area, endpoints }, base]) =>
    Object.entries(endpoints as Readonly<Record<string, Endpoint>>).flatMap(([name, { access, body: spec, method, path }]) => {
      if (spec === undefined) return []
      const bytes = spec.streamed === true ? 4 << 20 : spec.maxBytes ?? 256 * 1024
      const call = {
        endpoint: `${area}.${name}`,
        method,
        path: `${base}${path}`.replaceAll("{tenantId}", tenantId).replaceAll(/\{[^}]+\}/g, "0199ffff-0000-7000-8000-00000000d000"),
        as: access === "operator" ? "operator" as const : area === "intake" || area === "invoices" ? "carrier" as const : "customer" as const,
        contentType: spec.contentTypes?.[0] ?? "application/json"
      }
      return [
        ...Object.entries(worstOf(listLimitsOf(spec.schema), bytes)).filter(([label]) => !quick || isInQuickRun(label)).map(([label, text]) => ({ ...call, label, body: text, accepted: false })),
        ...Object.entries(largestValid[name] ?? {}).map(([label, make]) => ({ ...call, label, body: (attempt: number) => JSON.stringify(make(attempt)), accepted: true }))
      ]
    }))
