/** Storage port: who wants which freight charges, what was in flight when they asked, and the windows of slow cadences. */
import { Context, type Effect, type Option } from "effect"
import type { LaneStatus } from "../delivery/DeliveryQueue.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { BillRange } from "./FreightBillStore.ts"

export interface ChargeSubscriptionRecord {
  readonly id: string
  readonly client: string
  /** JSON that only core reads. */
  readonly doc: string
  readonly webhookUrl: string
  /** `undefined`: whatever accounts its client has. */
  readonly accounts: ReadonlyArray<string> | undefined
  readonly createdAt: number
}

export interface StoredChargeSubscription extends Pick<ChargeSubscriptionRecord, "id" | "client" | "doc" | "createdAt"> {
  /** `undefined` once it is cancelled. */
  readonly lane: LaneStatus | undefined
  readonly cancelledAt: number | undefined
}

/** A bill that was in flight, and the accounts (or accounts within a carrier) by which the subscription saw it. */
export interface InFlightBill {
  readonly billId: string
  /** One PFC object as JSON. */
  readonly body: Uint8Array
  readonly accounts: ReadonlyArray<string>
}

export class ChargeSubscriptionStore extends Context.Service<ChargeSubscriptionStore, {
  /** What the client itself has now, by whichever key or token: accounts, and what a carrier with a number is known by (`accessOf`); that it sees everything does not count. It stays so until the transaction ends. */
  readonly accountsOf: (tenantId: string, client: string) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Waits for calls that change bills of these accounts, and makes the next ones wait, until the transaction ends. */
  readonly hold: (tenantId: string, accounts: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  /**
   * One of the accounts that a live subscription of the client covers already. One to whatever its client has covers every
   * account; `undefined` asks whether there is any. Serialises with other calls for the same client until the transaction ends.
   */
  readonly covered: (
    tenantId: string,
    client: string,
    accounts: ReadonlyArray<string> | undefined
  ) => Effect.Effect<Option.Option<string>, StorageError>
  /** Stores it and matches it from now on; its lane is open already. */
  readonly insert: (tenantId: string, record: ChargeSubscriptionRecord) => Effect.Effect<void, StorageError>
  /** Adds to what was in flight when it was made, in the same transaction. */
  readonly addInFlight: (tenantId: string, id: string, bills: ReadonlyArray<InFlightBill>) => Effect.Effect<void, StorageError>
  /** The client's own only, cancelled ones too. */
  readonly find: (tenantId: string, client: string, id: string) => Effect.Effect<Option.Option<StoredChargeSubscription>, StorageError>
  /** By id alone: for operators. */
  readonly findAny: (tenantId: string, id: string) => Effect.Effect<Option.Option<StoredChargeSubscription>, StorageError>
  /** What core keeps of the live subscriptions of these ids, as JSON that only core reads; ids that are none of this area's are left out. */
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
  /** The client's live ones that deliver to this address. */
  readonly deliveringTo: (
    tenantId: string,
    client: string,
    webhookUrl: string
  ) => Effect.Effect<ReadonlyArray<StoredChargeSubscription>, StorageError>
  /** Nothing matches it afterwards, and what its window collected is dropped; its lane is closed by the caller. False when it was cancelled before or is unknown. */
  readonly cancel: (tenantId: string, client: string, id: string) => Effect.Effect<boolean, StorageError>
  /** What was in flight when it was made, by billId, after one of them, as far as the client still has one of the accounts it was seen by; `limit` at most. */
  readonly inFlight: (
    tenantId: string,
    client: string,
    id: string,
    range: BillRange
  ) => Effect.Effect<ReadonlyArray<Pick<InFlightBill, "billId" | "body">>, StorageError>
  /**
   * When the open window closes that has collected one of these bills, and the entries' own ids of closed windows that hold one: among
   * the first hundred that wait, were dropped, or are in the newest hundred deliveries of each group of states.
   */
  readonly windowsWith: (tenantId: string, id: string, billIds: ReadonlyArray<string>) => Effect.Effect<{
    readonly closesAt: number | undefined
    readonly orderIds: ReadonlyArray<string>
  }, StorageError>
  /** Tenants with a window to close, and how long until the next one is otherwise, by the store's clock. */
  readonly windowsDue: (limit: number) => Effect.Effect<{
    readonly tenantIds: ReadonlyArray<string>
    readonly nextDueInMillis: number | undefined
  }, StorageError>
  /**
   * Closes windows that are due: queues what each collected as one entry, by billId. A window closes once, whoever asks.
   * Answers how many closed, a few hundred a call at most, and whether more may be due. A transaction calls it once: subscriptions
   * are locked in the order of their ids, and a second call may come to one before those that the first holds.
   */
  readonly closeWindows: (tenantId: string) => Effect.Effect<{ readonly closed: number; readonly more: boolean }, StorageError>
}>()("@waybill/core/freight-charges/ChargeSubscriptionStore") {}
