/**
 * Storage port: freight bills, their versions and their notices. Each version is stored with the accounts that may see it. Core decides
 * what each subscription gets; the JSON bytes of a notice are stored once.
 */
import { Context, type Effect } from "effect"
import type { ListRange } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { WindowTimes } from "./model/ChargeWindow.ts"
import type { BillState } from "./model/FreightBill.ts"

/** A freight bill as stored. */
export interface BillRow {
  readonly billId: string
  /** Counts up from 1. */
  readonly version: number
  readonly state: BillState
  /** Accounts of the debtor and its agents. Empty when removed. */
  readonly accounts: ReadonlyArray<string>
  /** JSON that only core reads. */
  readonly doc: string
}

/** A notification about one version, for one or more subscriptions. */
export interface ChargeNotice {
  readonly noticeId: string
  readonly billId: string
  readonly version: number
  /** Clients with one of these accounts receive it. Checked when it is queued and again when it is sent. */
  readonly accounts: ReadonlyArray<string>
  /** One PFC object as JSON. */
  readonly body: Uint8Array
}

/** A subscription that may see charges of some accounts now. */
export interface ChargeViewer {
  readonly subscriptionId: string
  /** JSON that only core reads. */
  readonly doc: string
  /** Those of the requested accounts (or accounts within a carrier) that the subscription covers and its client has. */
  readonly accounts: ReadonlyArray<string>
}

/** Assigns a notice to a subscription: at once, or in its window, where a bill's later notice replaces its earlier one. */
export interface ChargeNotification {
  readonly subscriptionId: string
  /** Index in `notices` of the same call. */
  readonly notice: number
  readonly window: WindowTimes | undefined
}

/** What one call stores: bills, bodies of notifications, and who gets them. */
export interface BillChanges {
  readonly bills: ReadonlyArray<BillRow>
  readonly notices: ReadonlyArray<ChargeNotice>
  readonly notifications: ReadonlyArray<ChargeNotification>
  readonly traceparent: string | undefined
}

/** Storage port: freight bills with their versions, and the notifications about them. */
export class FreightBillStore extends Context.Service<FreightBillStore, {
  /** Locks the bills, existing or not, until the transaction ends, in one fixed order. Returns those that exist. */
  readonly lock: (tenantId: string, billIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<BillRow>, StorageError>
  /**
   * Waits for concurrent calls that create subscriptions to these accounts, and blocks new ones until the transaction ends. Call it after
   * `lock` and before `viewers`. Returns the store's clock in milliseconds since 1970.
   */
  readonly gate: (tenantId: string, accounts: ReadonlyArray<string>) => Effect.Effect<number, StorageError>
  /**
   * Live subscriptions that see charges of these accounts (or accounts within a carrier, `accountWithin`) now. Only the client's own
   * accounts count: a carrier that sees its whole tenant sees no charges. The cost depends on the number of matches, not of subscriptions.
   */
  readonly viewers: (tenantId: string, accounts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ChargeViewer>, StorageError>
  /** Stores bills (the last row of each) and notices, and queues notifications, in the transaction of `lock`. */
  readonly append: (tenantId: string, changes: BillChanges) => Effect.Effect<void, StorageError>
  /** Bills whose ids start with one of the prefixes, by billId; at most `limit` for each prefix. */
  readonly beginning: (tenantId: string, prefixes: ReadonlyArray<string>, limit: number) => Effect.Effect<ReadonlyArray<BillRow>, StorageError>
  /** A page of the open bills of these accounts, by billId. `unlistedBy`: without those in the in-flight list of this subscription. */
  readonly open: (tenantId: string, accounts: ReadonlyArray<string>, range: ListRange & { readonly unlistedBy?: string }) => Effect.Effect<ReadonlyArray<BillRow>, StorageError>
  /**
   * Deletes bills that ended before `ended`; notices stored before `noticed` that no waiting entry, open window, or unfinished or dead
   * delivery refers to; and subscriptions cancelled before `noticed`, with their bills in flight. Returns their number; at most a few thousand
   * per call.
   */
  readonly prune: (
    tenantId: string,
    before: { readonly ended: number; readonly noticed: number }
  ) => Effect.Effect<number, StorageError>
}>()("@waybill/core/freight-charges/FreightBillStore") {}
