/** One call of every method of the service, with the objects that it needs. */
import type { HostPrincipal, Waybill, WaybillWithin } from "@waybill/http"
import { documentsSample, fileSample, pickupRequest } from "@waybill/testkit"
import { bill, carrier, customer, event, invoice, shipment, tenantId } from "./Service.ts"

/** A call of `within` is made on the service itself or inside a transaction; the others only on the service. */
export type Call = (within: WaybillWithin) => Promise<unknown>

/** Creates what the call needs, outside of the transaction, and returns the call. */
export type Prepare = (scene: Scene, id: string) => Promise<Call> | Call

export interface Scene {
  readonly waybill: Waybill
  readonly hook: (path: string) => string
}

type Methods = Readonly<Record<string, Readonly<Record<string, Prepare>>>>

/** A call that needs something, which is created before. */
const after = <Made>(create: (scene: Scene, id: string) => Promise<Made>, call: (within: WaybillWithin, made: Made, id: string) => Promise<unknown>): Prepare =>
  async (scene, id) => {
    const made = await create(scene, id)
    return (within) => call(within, made, id)
  }

/** The same for a call that is made only on the service. */
const onService = <Made>(create: (scene: Scene, id: string) => Promise<Made>, call: (waybill: Waybill, made: Made, id: string) => Promise<unknown>): Prepare =>
  async (scene, id) => {
    const made = await create(scene, id)
    return () => call(scene.waybill, made, id)
  }

const documents = (id: string) =>
  documentsSample({
    shipmentID: id,
    invoiceNumber: id,
    accounts: ["A"],
    documents: [{ documentType: "POD", files: [fileSample("PDF", 70_000)] }],
    more: { uniqueID: id }
  }) as never

export const pickup = (number?: string, ready?: string) =>
  pickupRequest({ orgAccountNumber: "A", day: "2099-11-20", ...(number === undefined ? {} : { number }), ...(ready === undefined ? {} : { ready }) }) as never

const subscription = ({ hook }: Scene, path = "/events") => ({ endpointUrl: hook(path), hmacSecretId: "main", delivery: { rateLimitPerMinute: 6_000_000 } })
const charges = ({ hook }: Scene, id: string) => ({ webhookUrl: hook("/charges"), accounts: [id], dataOptions: {} })
const status = ({ hook }: Scene, id: string) => ({ referenceNumbers: [id] as const, webhookUrl: hook("/status") })

/** A client with its own quotas and account: what one test publishes goes to no subscription of another. */
const clientOf = (id: string): HostPrincipal => ({ ...customer, client: `client-${id}`, accounts: [id] })

const registered = async ({ waybill }: Scene, id: string) => void await waybill.shipments.register(carrier, [shipment(id)])

const pickedUp = async (scene: Scene, id: string) => {
  await registered(scene, id)
  await scene.waybill.events.publish(carrier, [event(id, `${id}-1`)])
}

const subscribed = async (scene: Scene, id: string) => (await scene.waybill.subscriptions.create(clientOf(id), subscription(scene))).id

const subscribedToCharges = async (scene: Scene, id: string) => (await scene.waybill.chargeSubscriptions.create(clientOf(id), charges(scene, id))).subscriptionId

const invoiced = ({ waybill }: Scene, id: string) => waybill.invoices.create(carrier, invoice(id))

const uploaded = ({ waybill }: Scene, id: string) => waybill.documents.upload(carrier, documents(id))

const carrierOf = (id: string): HostPrincipal => ({ ...carrier, client: `carrier-${id}` })

const pickupSubscription = ({ hook }: Scene) => ({ topics: ["pickups"], endpointUrl: hook("/pickups"), hmacSecretId: "main" }) as const

const subscribedToPickups = async (scene: Scene, id: string) => (await scene.waybill.pickupSubscriptions.create(carrierOf(id), pickupSubscription(scene))).id

const ordered = async ({ waybill }: Scene) => (await waybill.pickups.create(customer, pickup()))[0]!.carrierPickupNumber!

/** The id of a delivery that was sent. */
const delivered = async (scene: Scene, id: string) => {
  const { waybill } = scene
  const subscriptionId = await subscribed(scene, id)
  await waybill.events.publish(carrier, [event(id, `${id}-1`, id)])
  while (await waybill.runOnce() > 0);
  return { subscriptionId, deliveryId: (await waybill.deliveries.list(tenantId, { subscriptionId })).data[0]!.deliveryId }
}

const otherTenant = async ({ waybill }: Scene, id: string) => {
  await waybill.tenants.put(`tenant-${id}`, { name: "Other" })
  return `tenant-${id}`
}

/** The methods of `within(tx)`, which the service itself has too. */
export const withinCalls: Methods = {
  events: { publish: (_, id) => ({ events }) => events.publish(carrier, [event(id, `${id}-1`)]) },
  subscriptions: {
    create: (scene, id) => ({ subscriptions }) => subscriptions.create(clientOf(id), subscription(scene)),
    list: (_, id) => ({ subscriptions }) => subscriptions.list(clientOf(id)),
    get: after(subscribed, ({ subscriptions }, subscriptionId, id) => subscriptions.get(clientOf(id), subscriptionId)),
    patch: after(subscribed, ({ subscriptions }, subscriptionId, id) => subscriptions.patch(clientOf(id), subscriptionId, { hmacSecretId: "main", status: "paused" })),
    remove: after(subscribed, ({ subscriptions }, subscriptionId, id) => subscriptions.remove(clientOf(id), subscriptionId))
  },
  shipments: {
    register: (_, id) => ({ shipments }) => shipments.register(carrier, [shipment(id)]),
    report: after(registered, ({ shipments }, _, id) =>
      shipments.report(carrier, [{ shipmentId: id, shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-21T09:00:00Z" }]))
  },
  statusSubscriptions: {
    subscribe: async (scene, id) => {
      await registered(scene, id)
      return ({ statusSubscriptions }) => statusSubscriptions.subscribe(customer, status(scene, id))
    },
    unsubscribe: async (scene, id) => {
      await registered(scene, id)
      const { transactionId } = await scene.waybill.statusSubscriptions.subscribe(customer, status(scene, id))
      return ({ statusSubscriptions }) => statusSubscriptions.unsubscribe(customer, transactionId)
    }
  },
  freightCharges: { publish: (_, id) => ({ freightCharges }) => freightCharges.publish(carrier, [bill(id)]) },
  chargeSubscriptions: {
    create: (scene, id) => ({ chargeSubscriptions }) => chargeSubscriptions.create(clientOf(id), charges(scene, id)),
    get: after(subscribedToCharges, ({ chargeSubscriptions }, subscriptionId, id) => chargeSubscriptions.get(clientOf(id), subscriptionId)),
    cancel: after(subscribedToCharges, ({ chargeSubscriptions }, subscriptionId, id) => chargeSubscriptions.cancel(clientOf(id), subscriptionId)),
    inFlight: async (scene, id) => {
      await scene.waybill.freightCharges.publish(carrier, [bill(id, id)])
      const subscriptionId = await subscribedToCharges(scene, id)
      return ({ chargeSubscriptions }) => chargeSubscriptions.inFlight(clientOf(id), subscriptionId)
    }
  },
  invoices: {
    create: (_, id) => ({ invoices }) => invoices.create(carrier, invoice(id)),
    replace: after(invoiced, ({ invoices }, _, id) => invoices.replace(carrier, id, { ...invoice(id) as object, shipmentID: "other" } as never)),
    remove: after(invoiced, ({ invoices }, _, id) => invoices.remove(carrier, id))
  },
  documents: {
    upload: (_, id) => (within) => within.documents.upload(carrier, documents(id)),
    remove: after(uploaded, (within, _, id) => within.documents.remove(carrier, id))
  },
  pickups: {
    create: (_, id) => ({ pickups }) => pickups.create(customer, pickup(), { idempotencyKey: id }),
    update: after(ordered, ({ pickups }, number) => pickups.update(customer, number, pickup(number, "10:00:00"))),
    cancel: after(ordered, ({ pickups }, number) => pickups.cancel(customer, number)),
    report: after(ordered, ({ pickups }, number) => pickups.report(carrier, number, { status: "En Route" })),
    // every order is accepted at once
    decide: after(ordered, ({ pickups }, number) => pickups.decide(carrier, number, { decision: "accept" }).catch(onlyCode("pickup_decided")))
  },
  pickupSubscriptions: {
    create: (scene, id) => ({ pickupSubscriptions }) => pickupSubscriptions.create(carrierOf(id), pickupSubscription(scene)),
    list: () => ({ pickupSubscriptions }) => pickupSubscriptions.list(carrier),
    get: after(subscribedToPickups, ({ pickupSubscriptions }, subscriptionId, id) => pickupSubscriptions.get(carrierOf(id), subscriptionId)),
    patch: after(subscribedToPickups, ({ pickupSubscriptions }, subscriptionId, id) => pickupSubscriptions.patch(carrierOf(id), subscriptionId, { status: "paused" })),
    remove: after(subscribedToPickups, ({ pickupSubscriptions }, subscriptionId, id) => pickupSubscriptions.remove(carrierOf(id), subscriptionId))
  },
  apiKeys: {
    create: (_, id) => ({ apiKeys }) => apiKeys.create(tenantId, { name: `key-${id}`, roles: ["customer"], accounts: ["A"] }),
    revoke: async ({ waybill }, id) => {
      const key = await waybill.apiKeys.create(tenantId, { name: `key-${id}`, roles: ["customer"], accounts: ["A"] })
      return ({ apiKeys }) => apiKeys.revoke(tenantId, key.id)
    }
  },
  secrets: {
    put: (_, id) => ({ secrets }) => secrets.put(tenantId, `secret-${id}`, { anyClient: true }),
    delete: async ({ waybill }, id) => {
      await waybill.secrets.put(tenantId, `secret-${id}`, { anyClient: true })
      return ({ secrets }) => secrets.delete(tenantId, `secret-${id}`)
    }
  }
}

/** The other methods. */
const serviceCalls: Methods = {
  events: { list: ({ waybill }) => () => waybill.events.list(customer) },
  shipments: {
    verified: onService(pickedUp, (waybill, _, id) => waybill.shipments.verified(customer, { kind: "pro", proNumber: id })),
    public: onService(pickedUp, (waybill, _, id) => waybill.shipments.public({ tenantId }, { kind: "pro", proNumber: id })),
    pickedUp: ({ waybill }) => () => waybill.shipments.pickedUp(customer, { accountNumber: "A", startDate: "2026-11-01", endDate: "2026-11-30" }),
    record: onService(registered, (waybill, _, id) => waybill.shipments.record(carrier, id))
  },
  chargeSubscriptions: {
    testWebhook: ({ hook, waybill }, id) => () => waybill.chargeSubscriptions.testWebhook(clientOf(id), { webhookUrl: hook("/test"), hmacSecretId: "main" })
  },
  invoices: {
    list: ({ waybill }) => () => waybill.invoices.list(customer),
    get: onService(invoiced, (waybill, _, id) => waybill.invoices.get(customer, id)),
    history: onService(invoiced, (waybill, _, id) => waybill.invoices.history(carrier, id))
  },
  documents: {
    list: ({ waybill }) => () => waybill.documents.list(customer),
    get: onService(uploaded, async (waybill, _, id) => {
      const found = await waybill.documents.get(customer, id)
      return await new Response(found.documents[0]!.files[0]!.content()).arrayBuffer()
    }),
    history: onService(uploaded, (waybill, _, id) => waybill.documents.history(carrier, id))
  },
  pickups: {
    visibility: onService(ordered, (waybill, lookupValue) => waybill.pickups.visibility(customer, { lookupValue, lookupType: "PickupConfirmationID", requestType: "Status", isTest: "false" })),
    changes: onService(ordered, (waybill) => waybill.pickups.changes(carrier)),
    record: onService(ordered, (waybill, number) => waybill.pickups.record(carrier, number))
  },
  tenants: {
    put: ({ waybill }, id) => () => waybill.tenants.put(`tenant-${id}`, { name: "Other", hosts: [`${id}.example`] }),
    list: ({ waybill }) => () => waybill.tenants.list(),
    suspend: onService(otherTenant, (waybill, other) => waybill.tenants.suspend(other)),
    resume: async (scene, id) => {
      const other = await otherTenant(scene, id)
      await scene.waybill.tenants.suspend(other)
      return () => scene.waybill.tenants.resume(other)
    },
    delete: onService(otherTenant, (waybill, other) => waybill.tenants.delete(other, { confirm: other })),
    health: ({ waybill }) => () => waybill.tenants.health()
  },
  audit: { list: ({ waybill }) => () => waybill.audit.list() },
  limits: {
    get: ({ waybill }) => () => waybill.limits.get(tenantId),
    put: ({ waybill }) => () => waybill.limits.put(tenantId, { subscriptions: 150_000 })
  },
  apiKeys: {
    list: ({ waybill }) => () => waybill.apiKeys.list(tenantId)
  },
  clients: {
    list: ({ waybill }) => () => waybill.clients.list(tenantId),
    delete: onService(subscribed, (waybill, _, id) => waybill.clients.delete(tenantId, clientOf(id).client))
  },
  secrets: {
    list: ({ waybill }) => () => waybill.secrets.list(tenantId),
    reseal: ({ waybill }) => () => waybill.secrets.reseal(tenantId)
  },
  deliveries: {
    list: ({ waybill }) => () => waybill.deliveries.list(tenantId),
    get: onService(delivered, (waybill, { deliveryId }) => waybill.deliveries.get(tenantId, deliveryId)),
    retry: onService(delivered, (waybill, { deliveryId }) => waybill.deliveries.retry(tenantId, deliveryId)),
    dismiss: onService(delivered, (waybill, { deliveryId }) => waybill.deliveries.dismiss(tenantId, deliveryId).catch(onlyCode("delivery_not_dismissable"))),
    retryDeadLetters: onService(delivered, (waybill, { subscriptionId }) => waybill.deliveries.retryDeadLetters(tenantId, { subscriptionId })),
    dismissDeadLetters: onService(delivered, (waybill, { subscriptionId }) => waybill.deliveries.dismissDeadLetters(tenantId, { subscriptionId })),
    recover: onService(delivered, (waybill, { subscriptionId }) => waybill.deliveries.recover(tenantId, subscriptionId, "2026-01-01T00:00:00Z")),
    replay: onService(delivered, (waybill, { subscriptionId }) => waybill.deliveries.replay(tenantId, subscriptionId, { from: "2020-01-01T00:00:00Z" }))
  },
  portal: {
    createLink: async (scene, id) => {
      await scene.waybill.apiKeys.create(tenantId, { name: `portal-${id}`, roles: ["customer"], accounts: ["A"] })
      return () => scene.waybill.portal.createLink(tenantId, { client: `portal-${id}` })
    },
    subscriptions: ({ waybill }, id) => () => waybill.portal.subscriptions(clientOf(id)),
    subscription: onService(subscribed, (waybill, subscriptionId, id) => waybill.portal.subscription(clientOf(id), subscriptionId)),
    pause: onService(subscribed, (waybill, subscriptionId, id) => waybill.portal.pause(clientOf(id), subscriptionId)),
    resume: onService(subscribed, (waybill, subscriptionId, id) => waybill.portal.resume(clientOf(id), subscriptionId)),
    test: onService(subscribed, (waybill, subscriptionId, id) => waybill.portal.test(clientOf(id), subscriptionId)),
    deliveries: ({ waybill }, id) => () => waybill.portal.deliveries(clientOf(id)),
    delivery: onService(delivered, (waybill, { deliveryId }, id) => waybill.portal.delivery(clientOf(id), deliveryId)),
    retry: onService(delivered, (waybill, { deliveryId }, id) => waybill.portal.retry(clientOf(id), deliveryId)),
    contact: ({ waybill }, id) => () => waybill.portal.contact(clientOf(id)),
    setContact: ({ waybill }, id) => () => waybill.portal.setContact(clientOf(id), { email: "edi@shipper.example" }),
    secrets: ({ waybill }, id) => () => waybill.portal.secrets(clientOf(id)),
    rotateSecret: async (scene, id) => {
      await scene.waybill.secrets.put(tenantId, `portal-${id}`, { client: `client-${id}` })
      return () => scene.waybill.portal.rotateSecret(clientOf(id), `portal-${id}`)
    }
  },
  statistics: {
    get: onService(subscribed, (waybill, subscriptionId) => waybill.statistics.get(tenantId, { subscriptionId: [subscriptionId] }))
  },
  allPickups: {
    list: ({ waybill }) => () => waybill.allPickups.list(tenantId),
    // every order is accepted at once
    decide: onService(ordered, (waybill, number) => waybill.allPickups.decide(tenantId, number, { decision: "accept" }).catch(onlyCode("pickup_decided")))
  },
  allSubscriptions: {
    list: ({ waybill }) => () => waybill.allSubscriptions.list(tenantId),
    get: onService(subscribed, (waybill, subscriptionId) => waybill.allSubscriptions.get(tenantId, subscriptionId)),
    pause: onService(subscribed, (waybill, subscriptionId) => waybill.allSubscriptions.pause(tenantId, subscriptionId, "The receiver moves.")),
    resume: async (scene, id) => {
      const subscriptionId = await subscribed(scene, id)
      await scene.waybill.allSubscriptions.pause(tenantId, subscriptionId, "The receiver moves.")
      return () => scene.waybill.allSubscriptions.resume(tenantId, subscriptionId)
    },
    purge: onService(subscribed, (waybill, subscriptionId) => waybill.allSubscriptions.purge(tenantId, subscriptionId)),
    purgeMatching: onService(subscribed, (waybill, subscriptionId) => waybill.allSubscriptions.purgeMatching(tenantId, { subscriptionIds: [subscriptionId] })),
    edit: onService(subscribed, (waybill, subscriptionId) => waybill.allSubscriptions.edit(tenantId, subscriptionId, { delivery: { maxAttempts: 3 } })),
    explain: onService(delivered, (waybill, { subscriptionId }, id) => waybill.allSubscriptions.explain(tenantId, subscriptionId, { eventId: `${id}-1` })),
    remove: onService(subscribed, (waybill, subscriptionId) => waybill.allSubscriptions.remove(tenantId, subscriptionId))
  },
  journeys: {
    find: onService(registered, (waybill, _, id) => waybill.journeys.find(tenantId, id)),
    get: onService(registered, (waybill, _, id) => waybill.journeys.get(tenantId, id))
  }
}

/** Methods of the service itself, without a group. */
const lifecycleCalls: Readonly<Record<string, Prepare>> = {
  wake: ({ waybill }) => () => waybill.wake(tenantId),
  runOnce: ({ waybill }) => () => waybill.runOnce(),
  maintain: ({ waybill }) => () => waybill.maintain()
}

export const listed = (methods: Methods): ReadonlyArray<readonly [string, Prepare]> =>
  Object.entries(methods).flatMap(([group, calls]) => Object.entries(calls).map(([name, prepare]) => [`${group}.${name}`, prepare] as const))

/** Every method by its name. */
export const everyCall = [...listed(withinCalls), ...listed(serviceCalls), ...Object.entries(lifecycleCalls)]

const onlyCode = (code: string) => (error: { readonly code?: string }) => {
  if (error.code !== code) throw error
}
