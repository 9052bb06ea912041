/** Storage port: e-mails that wait until a mail server accepts them. */
import { Context, type Effect } from "effect"
import type { ListRange } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { Mail } from "./model/Mail.ts"

/** Mails of a tenant that wait at the same time, at most. Those of one client take no more places than are left free. */
export const mailsPerTenant = 2_000

/** Mails that one call of `prune` removes, at most. */
export const mailsPerPrune = 1_000

/** A mail that is due, leased to the caller. */
export interface WaitingMail extends Mail {
  /** Attempts so far, this one included. */
  readonly attempt: number
  /** How long it has waited, by the store's clock. */
  readonly waitedMillis: number
}

/** Storage port: mails that wait for a mail server. */
export class MailStore extends Context.Service<MailStore, {
  /** Keeps a mail that a client causes, in the caller's transaction; it is due at once. The same id again changes nothing. False when no place of `mailsPerTenant` is left for the client. */
  readonly put: (tenantId: string, client: string, mail: Mail) => Effect.Effect<boolean, StorageError>
  /** Tenants that have due mails, or mails whose time was set before the store's clock was set back, in the order of their ids. */
  readonly tenants: (range: ListRange) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /**
   * Due mails, the longest due first. Each is due again after `leaseMillis`, so no other process gets it before then. If the store's clock was set
   * back since a mail was put, taken or postponed, the mail is due after the time that it was given then, counted from this call.
   */
  readonly take: (tenantId: string, limit: number, leaseMillis: number) => Effect.Effect<ReadonlyArray<WaitingMail>, StorageError>
  /** How long the mail that is due first, of all tenants, has waited since then; 0 when none is due. */
  readonly lagMillis: Effect.Effect<number, StorageError>
  /** Makes a mail due after this time. */
  readonly postpone: (tenantId: string, id: string, millis: number) => Effect.Effect<void, StorageError>
  readonly remove: (tenantId: string, id: string) => Effect.Effect<void, StorageError>
  /** Removes mails that have waited since before this instant. Returns their number: `mailsPerPrune` at most. */
  readonly prune: (tenantId: string, before: number) => Effect.Effect<number, StorageError>
}>()("@waybill/core/mail/MailStore") {}
