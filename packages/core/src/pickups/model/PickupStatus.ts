/** The statuses of a pickup and the permitted moves between them. */

/**
 * - `Call us`: the carrier has not decided; the shipper phones the carrier.
 * - `Re-Attempt`: the pickup failed, and the driver will come again.
 */
export const pickupMoves = {
  "Accepted": ["Rescheduled", "En Route", "Cancelled"],
  "Rejected": [],
  "Call us": ["Accepted", "Rejected", "Cancelled"],
  "Rescheduled": ["Accepted", "Rescheduled", "En Route", "Cancelled"],
  "En Route": ["En Route", "Arrived", "Re-Attempt", "Rescheduled", "Cancelled"],
  "Arrived": ["Departed", "Re-Attempt", "Cancelled"],
  "Re-Attempt": ["En Route", "Arrived", "Rescheduled", "Cancelled"],
  "Departed": [],
  "Cancelled": []
} as const satisfies Record<string, ReadonlyArray<string>>

/** A status of a pickup, in the published spelling. */
export type PickupStatus = keyof typeof pickupMoves

/** The status of an order after the carrier's decision. */
export const decidedStatus = { accept: "Accepted", reject: "Rejected", callUs: "Call us" } as const satisfies Record<string, PickupStatus>

/** All statuses of a pickup. */
export const pickupStatuses = Object.keys(pickupMoves) as ReadonlyArray<PickupStatus>

/** The statuses that may follow `from`. None follows a final status. */
export const pickupMovesFrom = (from: PickupStatus): ReadonlyArray<PickupStatus> => pickupMoves[from]

/** Whether no move is permitted from this status. */
export const isFinalPickup = (status: PickupStatus): boolean => pickupMovesFrom(status).length === 0

/** Whether `to` may follow `from`. */
export const canMovePickup = (from: PickupStatus, to: PickupStatus): boolean => pickupMovesFrom(from).includes(to)

/** Whether lookups show the pickup: only after the carrier accepted it. */
export const isVisiblePickup = (status: PickupStatus): boolean => status !== "Rejected" && status !== "Call us"

/** Whether the shipper may still cancel: until the driver has arrived. SPEC-GAP-C12 */
export const shipperMayCancel = (status: PickupStatus): boolean => status !== "Arrived" && canMovePickup(status, "Cancelled")

/** Statuses for which the carrier must give a reason. */
export const needsInformationCode = (status: PickupStatus): boolean =>
  status === "Rescheduled" || status === "Cancelled" || status === "Re-Attempt"

/** Published wordings that are more specific than a status. They are shown as written. SPEC-GAP-C11 */
export const specificWordings: Readonly<Record<string, PickupStatus>> = {
  "Departed with Exact Match": "Departed",
  "Departed with Shipments": "Departed",
  "Departed with No Freight": "Departed",
  "Departed with Exceptions": "Departed",
  "Pickup Rescheduled": "Rescheduled",
  "Pickup Cancelled": "Cancelled"
}

/** A status that was read in any spelling. */
export interface ParsedStatus {
  readonly status: PickupStatus
  /** In the published spelling. */
  readonly words: string
}

const letters = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/gu, "").replace(/canceled$/u, "cancelled")

const bySpelling = new Map<string, ParsedStatus>([
  ...pickupStatuses.map((status): [string, ParsedStatus] => [letters(status), { status, words: status }]),
  ...Object.entries(specificWordings).map(([words, status]): [string, ParsedStatus] => [letters(words), { status, words }])
])

/** Every status and specific wording. */
export const pickupStatusWords: ReadonlyArray<string> = [...pickupStatuses, ...Object.keys(specificWordings)]

/** Parses a status, ignoring case, blanks and hyphens; `undefined` for other text. */
export const readPickupStatus = (text: string): ParsedStatus | undefined => bySpelling.get(letters(text))

/** Why a move is not permitted, in one sentence. */
export const whyNotMoved = (from: PickupStatus, to: PickupStatus): string =>
  isFinalPickup(from)
    ? `The pickup is ${from}, which is final; ${to} was refused.`
    : `A pickup cannot go from ${from} to ${to}. It can go to ${pickupMovesFrom(from).join(", ")}.`
