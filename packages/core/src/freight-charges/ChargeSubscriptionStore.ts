/** Storage port: freight charge subscriptions, the bills in flight when they were created, and the windows of hourly and daily ones. */
import { Context, type Effect, type Option } from "effect"
import type { DestinationStatus } from "../delivery/DeliveryQueue.ts"
import type { ListRange } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"

/** A charge subscription as core gives it to the store. Times are milliseconds since 1970. */
export interface ChargeSubscriptionRecord {
  readonly id: string
  readonly client: string
  /** JSON that only core reads. */
  readonly doc: string
  readonly webhookUrl: string
  /** `undefined`: every account of its client. */
  readonly accounts: ReadonlyArray<string> | undefined
  readonly createdAt: number
}

/** A charge subscription as the store returns it. */
export interface StoredChargeSubscription extends Pick<ChargeSubscriptionRecord, "id" | "client" | "doc" | "createdAt"> {
  /** `undefined` once the subscription is cancelled. */
  readonly destination: DestinationStatus | undefined
  readonly cancelledAt: number | undefined
}

/** An open bill at the time of subscribing, and the accounts (or accounts within a carrier) through which the subscription saw it. */
export interface InFlightBill {
  readonly billId: string
  readonly version: number
  /** One PFC object as JSON. */
  readonly body: Uint8Array
  readonly accounts: ReadonlyArray<string>
}

/** An account that a live subscription covers already. */
export interface CoveredAccount {
  readonly accountId: string
  readonly subscriptionId: string
}

/** Storage port: charge subscriptions, their in-flight lists, and the windows of hourly and daily ones. */
export class ChargeSubscriptionStore extends Context.Service<ChargeSubscriptionStore, {
  /**
   * All grants that the client has now through its keys and tokens: accounts, and grants of a carrier with a number (`accessOf`). That a
   * carrier sees its whole tenant does not count. The result is locked until the transaction ends.
   */
  readonly accountsOf: (tenantId: string, client: string) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Blocks calls that change bills of these accounts until the transaction ends, after waiting for those in progress. */
  readonly hold: (tenantId: string, accounts: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  /**
   * Finds an account that a live subscription of the client already covers, and this subscription. A subscription to all accounts covers every account;
   * `undefined` asks for any live subscription. Serialises calls for the same client until the transaction ends.
   */
  readonly covered: (
    tenantId: string,
    client: string,
    accounts: ReadonlyArray<string> | undefined
  ) => Effect.Effect<Option.Option<CoveredAccount>, StorageError>
  /** Stores a subscription, which matches from the end of the transaction on. The caller opens its destination. */
  readonly insert: (tenantId: string, record: ChargeSubscriptionRecord) => Effect.Effect<void, StorageError>
  /** Adds bills in flight to a new subscription, in the transaction of `insert`. */
  readonly addInFlight: (tenantId: string, id: string, bills: ReadonlyArray<InFlightBill>) => Effect.Effect<void, StorageError>
  /** Removes bills from the list of a new subscription that are no longer open in the version that was added. */
  readonly removeChanged: (tenantId: string, id: string) => Effect.Effect<void, StorageError>
  /** Finds the client's own subscription, also if cancelled. */
  readonly find: (tenantId: string, client: string, id: string) => Effect.Effect<Option.Option<StoredChargeSubscription>, StorageError>
  /** Finds a subscription of any client. For operators. */
  readonly findAny: (tenantId: string, id: string) => Effect.Effect<Option.Option<StoredChargeSubscription>, StorageError>
  /** Documents of live subscriptions as JSON that only core reads. Ids of other areas are left out. */
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
  /** The client's live subscriptions that deliver to this address. */
  readonly deliveringTo: (
    tenantId: string,
    client: string,
    webhookUrl: string
  ) => Effect.Effect<ReadonlyArray<StoredChargeSubscription>, StorageError>
  /**
   * Cancels a subscription: it matches nothing afterwards and its window is dropped. The caller closes its destination. False if it was
   * cancelled before or is unknown.
   */
  readonly cancel: (tenantId: string, client: string, id: string) => Effect.Effect<boolean, StorageError>
  /**
   * A page of the bills in flight when it was created, by billId; it has no further bill after `bytes` of bodies. A bill is left out if the
   * client no longer has any of the accounts through which it saw the bill.
   */
  readonly inFlight: (
    tenantId: string,
    client: string,
    id: string,
    range: ListRange & { readonly bytes: number }
  ) => Effect.Effect<ReadonlyArray<Pick<InFlightBill, "billId" | "body">>, StorageError>
  /**
   * Looks for bills in a subscription's windows. `closesAt`: when the open window with one of them closes. `orderIds`: entry ids of closed
   * windows with one of them, among 100 waiting and the newest 100 dropped entries, and the newest 100 deliveries of each group of states.
   */
  readonly windowsWith: (tenantId: string, id: string, billIds: ReadonlyArray<string>) => Effect.Effect<{
    readonly closesAt: number | undefined
    readonly orderIds: ReadonlyArray<string>
  }, StorageError>
  /** Tenants with a window to close, in the order of their ids, and the time until the next one of any tenant, by the store's clock. */
  readonly windowsDue: (range: ListRange) => Effect.Effect<{
    readonly tenantIds: ReadonlyArray<string>
    readonly nextDueInMillis: number | undefined
  }, StorageError>
  /**
   * Closes due windows: queues what each collected as one entry, by billId. Concurrent calls close a window only once. Returns how many
   * were closed, at most a few hundred per call, and whether more may be closed now. Windows of subscriptions that other transactions have locked
   * are left out; when only these are left, it waits for one of them, for a second at most.
   */
  readonly closeWindows: (tenantId: string) => Effect.Effect<{ readonly closed: number; readonly more: boolean }, StorageError>
}>()("@waybill/core/freight-charges/ChargeSubscriptionStore") {}
