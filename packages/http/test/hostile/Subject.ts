/** The subject of a call: one shipment with its related data, and its numbers. */

export interface Subject {
  readonly tenantId: string
  /** Accounts with access to its freight; calls use the first one. */
  readonly accounts: readonly [string, ...ReadonlyArray<string>]
  readonly dot: string
  readonly mc: string
  readonly shipmentId: string
  readonly proNumber: string
  readonly bolNumber: string
  readonly poNumber: string
  readonly uniqueID: string
  readonly invoiceNumber: string
  readonly billId: string
  /** A client with a key and no subscriptions, for new keys. */
  readonly client: string
  /** A secret that only clients with one of the accounts may use. */
  readonly hmacSecretId: string
  /** Target of its client's subscriptions. */
  readonly webhookUrl: string
  readonly eventId: string
  /** Whether its pickup is a test; tests have their own numbers, which no other subject uses. */
  readonly isTest: boolean
  /** Ids that the service assigns. */
  readonly pickupId: string
  readonly subscriptionId: string
  readonly chargeSubscriptionId: string
  readonly transactionId: string
  readonly deliveryId: string
  readonly keyId: string
}

export const originPostalCode = "02134"
export const destinationPostalCode = "75201"

/** All chosen values contain one word: a response with that word reveals the subject. */
export const subjectNamed = (word: string, of: Pick<Subject, "tenantId" | "accounts" | "dot" | "mc"> & Partial<Subject>): Subject => ({
  isTest: false,
  shipmentId: `${word}-shipment`,
  proNumber: `${word}PRO`,
  bolNumber: `${word}BOL`,
  poNumber: `${word}PO`,
  uniqueID: `${word}papers-invoice`,
  invoiceNumber: `${word}papers-4711`,
  billId: `${word}BILL`,
  client: `${word}-leaver`,
  hmacSecretId: `${word}-secret`,
  webhookUrl: `https://${word}own.example/hook`,
  eventId: `${word}-event`,
  ...unknownIds,
  ...of
})

/** Ids in the service's format that do not exist. */
const unknownIds = {
  pickupId: "999999999",
  subscriptionId: "0199ffff-0000-7000-8000-00000000d000",
  chargeSubscriptionId: "0199ffff-0000-7000-8000-00000000e000",
  transactionId: "0199ffff-0000-7000-8000-00000000a000",
  deliveryId: "0199ffff-0000-7000-8000-00000000f000",
  keyId: "0199ffff-0000-7000-8000-00000000c000"
} as const
