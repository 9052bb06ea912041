/** The agreement with a trading partner, as data. One profile is one partner, in both directions. */
import { Schema } from "effect"
import { AccountNumber, InvalidInput, readInput } from "@waybill/core"
import { CarrierNumberText } from "@waybill/core/invoices"
import { EventType } from "@waybill/core/transit-events"
import { declared, type Delimiters, reserved } from "../x12/Delimiters.ts"
import { TransportSettings } from "./TransportSettings.ts"

const identification = (what: string) =>
  Schema.Struct({
    qualifier: Schema.String.check(Schema.isPattern(/^[0-9A-Z]{2}$/u, { message: "A qualifier has two characters, such as 02 or ZZ." })),
    id: Schema.String.check(Schema.isPattern(/^[ -~]{1,15}$/u, { message: `${what} has 1 to 15 ASCII characters.` }))
  })

const delimiter = Schema.String.check(Schema.isPattern(/^[^A-Za-z0-9 ]$/u, { message: "A delimiter is one character that is no letter, digit or space." }))

const code = Schema.String.check(Schema.isPattern(/^[A-Z0-9]{1,3}$/u, { message: "A code has 1 to 3 capital letters or digits." }))

/** IANA names are checked when they are used, because their list changes. */
const TimeZone = Schema.String.check(Schema.makeFilter((zone: string) => isTimeZone(zone) || "A time zone is an IANA name, such as America/Chicago."))

const isTimeZone = (zone: string): boolean => {
  try {
    return zone.includes("/") && new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== ""
  } catch {
    return false
  }
}

const differ = ({ release, ...delimiters }: Delimiters): boolean => {
  const all = [...reserved(delimiters), ...release === undefined ? [] : [release]]
  return new Set(all).size === all.length
}

const ReferenceType = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(80))

/** X12 versions that a partner may use. */
export const versions = ["004010", "005010", "008010"] as const

/** How files are exchanged with one partner: ids, versions, codes and transport. `docs/edi.md` explains each member. */
export const PartnerProfile = Schema.Struct({
  /** Names the partner in results and files. */
  partner: Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,62}$/u, { message: "A partner has 1 to 63 small letters, digits or hyphens." })),
  /** Their ISA-05 and ISA-06 in what they send. */
  them: identification("Their id"),
  /** Ours: ISA-07 and ISA-08 in what they send. */
  us: identification("Our id"),
  /** Ids of functional groups, if they differ from those of the interchange. */
  groups: Schema.optionalKey(Schema.Struct({ them: Schema.optionalKey(Schema.String), us: Schema.optionalKey(Schema.String) })),
  /** What is written. All three are read. */
  version: Schema.Literals(versions).annotate({ message: `version is one of ${versions.join(", ")}.` }),
  /** Sets that are read. Others are refused. */
  sets: Schema.Array(Schema.Literals(["214", "210", "204", "211", "216", "990"])).check(Schema.isMinLength(1, { message: "Name at least one transaction set." }), Schema.isMaxLength(6)),
  /** Sets that the server writes by itself: statuses and invoices on `accounts`, and answers to the partner's orders (204). */
  writes: Schema.optionalKey(Schema.Array(Schema.Literals(["214", "210", "990"])).check(Schema.isMaxLength(3))),
  /** Account numbers of the partner: its orders may name them, and it gets their statuses and invoices. */
  accounts: Schema.optionalKey(Schema.Array(AccountNumber).check(Schema.isMaxLength(1_000))),
  acknowledge: Schema.optionalKey(Schema.Literals(["997", "999", "none"])),
  /** How files are fetched and sent. Without it they are put into the partner's folder and taken from there. */
  transport: Schema.optionalKey(TransportSettings),
  isTest: Schema.optionalKey(Schema.Boolean),
  delimiters: Schema.optionalKey(Schema.Struct({
    element: delimiter,
    component: delimiter,
    segment: delimiter,
    repetition: Schema.optionalKey(delimiter),
    /** Written with ISX, which only partners on 008010 know. */
    release: Schema.optionalKey(delimiter)
  })),
  /** A line break after every segment. */
  lines: Schema.optionalKey(Schema.Boolean),
  encoding: Schema.optionalKey(Schema.Literals(["utf-8", "windows-1252"])),
  /** Our carrier's SCAC, for written events and invoices that have none. */
  scac: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Z]{2,4}$/u, { message: "A SCAC has 2 to 4 capital letters." }))),
  /** The carrier whose invoices the partner sends. */
  carrier: Schema.optionalKey(Schema.Struct({ dot: Schema.optionalKey(CarrierNumberText), mc: Schema.optionalKey(CarrierNumberText) })),
  /** Of shipments whose set names no mode, or M. It is not written. */
  mode: Schema.optionalKey(Schema.Literals(["FTL", "LTL", "PARCEL", "OCEAN", "AIR", "RAIL", "INTERMODAL", "OTHER"])),
  /** Linear feet of an order (204, 211, 216) without a volume, such as 53 for whole trailers. Orders need the space that they take. */
  linearFeet: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }, { message: "linearFeet is an integer from 1 to 1000." }))),
  /** Which reference is the id of a shipment: the first that a set has. Default PRO, then SID. For an invoice PRO; its number if it has none of them. */
  shipmentId: Schema.optionalKey(Schema.Array(ReferenceType).check(Schema.isMinLength(1), Schema.isMaxLength(20))),
  /** Statuses, invoices and orders without each of them are refused. */
  requiredReferences: Schema.optionalKey(Schema.Array(ReferenceType).check(Schema.isMaxLength(20))),
  times: Schema.optionalKey(Schema.Struct({
    /** Of local times whose state or province is not in `states` and lies in several zones. */
    zone: Schema.optionalKey(TimeZone),
    /** By two letters, such as `TN`. */
    states: Schema.optionalKey(Schema.Record(Schema.String, TimeZone)),
    /** Time of day for dates without a time, such as `12:00`. Without it, a status without a time is refused, but not an estimate of the delivery or an appointment. */
    ofDates: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^([01]\d|2[0-3]):[0-5]\d$/u, { message: "A time of day is HH:MM." }))),
    /** How times are written: in UTC, with their own offset, or as local time of `zone`. Default utc. */
    write: Schema.optionalKey(Schema.Literals(["utc", "offset", "local"]))
  })),
  /** Codes that mean something else with this partner. */
  codes: Schema.optionalKey(Schema.Struct({
    /** AT7-01 that is read: the event type. */
    statusIn: Schema.optionalKey(Schema.Record(code, EventType)),
    /** AT7-01 that is written for an event type. */
    statusOut: Schema.optionalKey(Schema.Record(Schema.String, code)),
    /** AT7-02 and AT7-04: the delay reason code of shipment status, both ways. */
    reasonIn: Schema.optionalKey(Schema.Record(code, Schema.String)),
    /** L1-08 by the code of a charge, both ways. */
    charges: Schema.optionalKey(Schema.Record(ReferenceType, code)),
    /** L11-02 and N9-01 by the type of a reference, both ways. */
    references: Schema.optionalKey(Schema.Record(ReferenceType, code))
  }))
}).check(
  Schema.makeFilter(({ accounts = [], writes = [] }) => accounts.length > 0 || writes.every((set) => set === "990") || "Statuses and invoices are written for accounts: name them in accounts."),
  Schema.makeFilter(({ times }) => times?.write !== "local" || times.zone !== undefined || "Local times are written in a zone: name it in times.zone."),
  Schema.makeFilter(({ delimiters, version }) => delimiters === undefined || differ(declared(delimiters, version)) || "Delimiters differ from each other. From version 005010 on the repetition separator is ^ unless delimiters names another."),
  Schema.makeFilter(({ sets, writes = [] }) => sets.includes("204") || !writes.includes("990") || "A 990 answers a 204: name 204 in sets.")
).annotate({ identifier: "PartnerProfile" })
export type PartnerProfile = typeof PartnerProfile.Type

const decode = readInput(PartnerProfile, { closed: true })

/** Reads a profile from JSON. Fails with every fault and its place. */
export const partnerProfile = (json: unknown): PartnerProfile => {
  const read = decode(json)
  if (read._tag === "Success") return read.success
  throw read.failure
}

export { InvalidInput as InvalidProfile }
