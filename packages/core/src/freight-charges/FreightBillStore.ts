/**
 * Storage port: freight bills with their versions, and what is told of them. Who may see a version is said with it; what each
 * subscription is told is decided by core, and kept once as the JSON bytes that go out.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { BillState } from "./model/FreightBill.ts"

export interface BillRow {
  readonly billId: string
  /** Counts from 1. */
  readonly version: number
  readonly state: BillState
  /** The debtor's and its agents' accounts; empty when removed. */
  readonly accounts: ReadonlyArray<string>
  /** JSON that only core reads. */
  readonly doc: string
}

/** What some subscriptions are told of one version. */
export interface ChargeNotice {
  readonly noticeId: string
  readonly billId: string
  readonly version: number
  /** Whom it is for: clients that have one of these accounts, when it is queued and still when it is sent. */
  readonly accounts: ReadonlyArray<string>
  /** One PFC object as JSON. */
  readonly body: Uint8Array
}

/** A subscription that may see freight of some accounts now, and which of them. */
export interface ChargeViewer {
  readonly subscriptionId: string
  /** JSON that only core reads. */
  readonly doc: string
  /** Those of the accounts (or accounts within a carrier) asked for that the subscription covers and its client has. */
  readonly accounts: ReadonlyArray<string>
}

/** When a collected change goes out: at `closesAt`, or at `following` when that window is closed already. */
export interface WindowTimes {
  readonly closesAt: number
  readonly following: number
}

/** Tells one subscription of one notice: at once, or with its window. In a window a bill's later notice replaces its earlier one. */
export interface ChargeNotification {
  readonly subscriptionId: string
  /** Index of the notice in the same call. */
  readonly notice: number
  readonly window: WindowTimes | undefined
}

export interface BillChanges {
  readonly bills: ReadonlyArray<BillRow>
  readonly notices: ReadonlyArray<ChargeNotice>
  readonly notifications: ReadonlyArray<ChargeNotification>
  readonly traceparent: string | undefined
}

/** A piece of a list by billId: nothing bounds how many bills an account has. */
export interface BillRange {
  readonly after: string | undefined
  readonly limit: number
}

export class FreightBillStore extends Context.Service<FreightBillStore, {
  /** Locks the bills until the transaction ends, whether they exist or not, in everybody's order. Answers those that exist. */
  readonly lock: (tenantId: string, billIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<BillRow>, StorageError>
  /**
   * Waits for subscriptions to these accounts that are being made, and makes the next ones wait until the transaction ends.
   * Call after `lock` and before `viewers`. Answers the store's clock, in milliseconds since 1970.
   */
  readonly gate: (tenantId: string, accounts: ReadonlyArray<string>) => Effect.Effect<number, StorageError>
  /**
   * Live subscriptions that see freight of these accounts (or accounts within a carrier, `accountWithin`) now. Only accounts that a client
   * has itself count: a carrier that sees all of its tenant sees no charges. Costs what matches, not what exists.
   */
  readonly viewers: (tenantId: string, accounts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ChargeViewer>, StorageError>
  /** Stores bills (of several rows for one bill, the last) and notices, and queues what is told, as one fact. Call inside the transaction of `lock`. */
  readonly append: (tenantId: string, changes: BillChanges) => Effect.Effect<void, StorageError>
  /** Bills whose ids begin with one of these, by billId; `limit` at most for each of them. */
  readonly beginning: (tenantId: string, prefixes: ReadonlyArray<string>, limit: number) => Effect.Effect<ReadonlyArray<BillRow>, StorageError>
  /** Open bills of these accounts, by billId, after one of them; `limit` at most. */
  readonly open: (tenantId: string, accounts: ReadonlyArray<string>, range: BillRange) => Effect.Effect<ReadonlyArray<BillRow>, StorageError>
  /**
   * Forgets bills that ended before one instant; notices stored before another that no waiting entry, open window or unsettled or
   * dead delivery refers to; and what was in flight for subscriptions cancelled before the latter. Answers how many; at most a
   * few thousand a call.
   */
  readonly prune: (
    tenantId: string,
    before: { readonly ended: number; readonly noticed: number }
  ) => Effect.Effect<number, StorageError>
}>()("@waybill/core/freight-charges/FreightBillStore") {}
