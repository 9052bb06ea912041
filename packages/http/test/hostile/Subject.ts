/** What a call is about: one shipment with everything around it, and the numbers that it is known by. */

export interface Subject {
  readonly tenantId: string
  /** Who may see its freight; the first is the one that calls name. */
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
  /** Has a key and no subscriptions: the name that new keys are given. */
  readonly client: string
  /** Of a secret that only clients with one of the accounts may name. */
  readonly hmacSecretId: string
  /** Where its client's subscriptions deliver to. */
  readonly webhookUrl: string
  readonly eventId: string
  /** Whether its pickup is a test; these have numbers of their own, which no other subject's can be. */
  readonly isTest: boolean
  /** Ids that the service gives. */
  readonly pickupId: string
  readonly subscriptionId: string
  readonly chargeSubscriptionId: string
  readonly transactionId: string
  readonly deliveryId: string
  readonly keyId: string
}

export const originPostalCode = "02134"
export const destinationPostalCode = "75201"

/** Everything that somebody chooses, made of one word: an answer that has the word in it tells of the subject. */
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

/** Of the form that the service gives, and given to nothing. */
export const unknownIds = {
  pickupId: "999999999",
  subscriptionId: "0199ffff-0000-7000-8000-00000000d000",
  chargeSubscriptionId: "0199ffff-0000-7000-8000-00000000e000",
  transactionId: "0199ffff-0000-7000-8000-00000000a000",
  deliveryId: "0199ffff-0000-7000-8000-00000000f000",
  keyId: "0199ffff-0000-7000-8000-00000000c000"
} as const
