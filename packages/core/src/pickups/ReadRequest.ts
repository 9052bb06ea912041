/** Parses callers' requests and lists every fault. */
import { Effect } from "effect"
import { isCarrier, type Principal } from "../access/model/Principal.ts"
import { type Fault, fault, maxFaults } from "../shared/Fault.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import { isOtherDay, type KeptPickup } from "./model/Pickup.ts"
import { pickupAccounts, namedAccounts, PickupQuery } from "./model/PickupLookup.ts"
import { emptyReport, PickupReport } from "./model/PickupReport.ts"
import { PickupRequest } from "./model/PickupRequest.ts"
import { pickupRequestFaults } from "./model/PickupRules.ts"
import { canMovePickup } from "./model/PickupStatus.ts"
import { isWindowOver, readPickupWindow } from "./model/PickupWindow.ts"

const shallow = (input: unknown): Effect.Effect<unknown, InvalidInput> =>
  nestsDeeperThan(input, maxDepth)
    ? Effect.fail(InvalidInput.of(fault([], `The body nests at most ${maxDepth} levels deep.`, "out_of_bounds")))
    : Effect.succeed(input)

const all = (faults: ReadonlyArray<Fault>): Effect.Effect<void, InvalidInput> =>
  InvalidInput.ifAny(faults.slice(0, maxFaults))

const decodeRequest = decodeInput(PickupRequest)
const decodeReport = decodeInput(PickupReport)

export const readQuery = decodeInput(PickupQuery)

/** A change request must name the same pickup number as the path. SPEC-GAP-C19 */
export const readRequest = Effect.fnUntraced(function*(input: unknown, number?: string) {
  const request = yield* Effect.flatMap(shallow(input), (body) => decodeRequest(body))
  yield* all(number === undefined ? newFaults(request) : changeFaults(request, number))
  return request
})

const newFaults = ({ requestFunction }: PickupRequest): ReadonlyArray<Fault> =>
  requestFunction === "NewPickup"
    ? []
    : [fault(["requestFunction"], "This call orders a new pickup: send NewPickup. Change an existing one at its own address.", "not_allowed")]

const changeFaults = ({ carrierPickupNumber, requestFunction }: PickupRequest, number: string): ReadonlyArray<Fault> => [
  ...(requestFunction === "ModifyExisting" ? [] : [fault(["requestFunction"], "This call changes a pickup: send ModifyExisting.", "not_allowed")]),
  ...(carrierPickupNumber === number
    ? []
    : [fault(["carrierPickupNumber"], `carrierPickupNumber must be ${number}, as in the path.`, carrierPickupNumber === null ? "required" : "conflict")])
]

export const readReport = Effect.fnUntraced(function*(input: unknown) {
  const report = yield* Effect.flatMap(shallow(input), (body) => decodeReport(body))
  const empty = emptyReport(report)
  if (empty !== undefined) return yield* InvalidInput.of(empty)
  return report
})

/** Checks a new request against the rules, the caller's accounts and the current time. */
export const checkNew = (principal: Principal, request: PickupRequest, now: number): Effect.Effect<void, InvalidInput> =>
  all([...pickupRequestFaults(request), ...accountFaults(principal, request, []), ...overFaults(request, now)])

/** Checks a change. A caller that sees the pickup may keep its accounts. An unchanged window may have begun already. */
export const checkChange = (principal: Principal, pickup: KeptPickup, request: PickupRequest, now: number): Effect.Effect<void, InvalidInput> =>
  all([
    ...pickupRequestFaults(request),
    ...accountFaults(principal, request, pickupAccounts(pickup.request)),
    ...(sameWindow(pickup.request, request) ? [] : overFaults(request, now)),
    ...(isOtherDay(pickup, request) && !canMovePickup(pickup.status, "Rescheduled")
      ? [fault(["readyDate"], `The pickup is ${pickup.words}; it cannot be moved to another day now.`, "conflict")]
      : [])
  ])

/** SPEC-GAP-C20: an account gives its clients access to the pickup, so customers may name only their own. */
const accountFaults = (principal: Principal, request: PickupRequest, known: ReadonlyArray<string>): ReadonlyArray<Fault> =>
  namedAccounts(request).flatMap(({ account, path }) => {
    return isCarrier(principal) || principal.accounts.includes(account) || known.includes(account)
      ? []
      : [fault(path, "This account is not one of yours. Name your own, or leave it out.", "not_allowed")]
  })

const overFaults = (request: PickupRequest, now: number): ReadonlyArray<Fault> => {
  const reading = readPickupWindow(request)
  return reading._tag === "Window" && reading.window !== undefined && isWindowOver(reading.window, now)
    ? [fault([request.closeTime === null ? "readyDate" : "closeTime"], "The pickup window is over already.", "out_of_bounds")]
    : []
}

const sameWindow = (a: PickupRequest, b: PickupRequest): boolean =>
  (["readyDate", "readyTime", "closeTime", "pickupLocationTimeZone"] as const).every((member) => a[member] === b[member])

/** 1 to 200 printable characters. */
export const checkIdempotencyKey = (key: string | undefined): Effect.Effect<string | undefined, InvalidInput> =>
  key === undefined || /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(key)
    ? Effect.succeed(key)
    : Effect.fail(InvalidInput.of(fault(["Idempotency-Key"], "An idempotency key is 1 to 200 printable characters.")))
