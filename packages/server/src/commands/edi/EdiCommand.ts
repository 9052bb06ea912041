/** `waybill edi`: tries a partner profile, on a file or by a connection. Needs no server. */
import { checkFile, type EdiFault, elementName, type FileReport, partnerProfile, type PartnerProfile, placeOf, type SetResult } from "@waybill/edi"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { createReadStream } from "node:fs"
import { dirname } from "node:path"
import { messageOf } from "../../ErrorMessage.ts"
import { checkTransport } from "../../edi/EdiMailboxes.ts"
import { verdictText } from "../../edi/EdiVerdicts.ts"
import { commandGroup } from "../shared/OperatorCommands.ts"
import { type CommandFailed, failed, usageError } from "../shared/Outcome.ts"
import { counted, jsonFlag } from "../shared/Output.ts"
import { printable } from "../../Printable.ts"
import { readInput } from "../shared/WebhookSecrets.ts"

const readProfile = (path: string): Effect.Effect<PartnerProfile, CommandFailed> =>
  Effect.flatMap(readInput(path), (bytes) =>
    Effect.try({
      try: () => partnerProfile(JSON.parse(bytes.toString("utf8"))),
      catch: (error) => usageError(`${path} is no partner profile: ${messageOf(error)}`)
    }))

const faultLine = (fault: EdiFault): string => `    ${placeOf(fault)}: ${printable(fault.detail)}${fault.value === undefined ? "" : ` (${JSON.stringify(fault.value)})`}`

interface Shown {
  readonly kept: boolean
  readonly records: boolean
}

const linesOf = (result: SetResult, items: ReadonlyArray<unknown>, { kept: all, records }: Shown): ReadonlyArray<string> => {
  const notes = [
    ...records ? items.map((item) => `    ${printable(JSON.stringify(item))}`) : [],
    ...result.faults.map(faultLine),
    ...result.warnings.map(({ detail, element, position, segment }) => `    ${elementName(segment, element)} at segment ${position}: ${printable(detail)}`),
    ...all ? result.kept.map(({ element, position, segment, value }) => `    ${elementName(segment, element)} at segment ${position} has no place: ${JSON.stringify(value)}`) : []
  ]
  const said = result.records.length === 0 ? "" : `, ${counted(result.records.length, "record")}`
  const kept = result.kept.length === 0 ? "" : `, ${counted(result.kept.length, "element")} without a place`
  return [`${result.outcome.padEnd(9)}  ${result.set} ${printable(result.controlNumber)} of group ${printable(result.group)}${said}${kept}`, ...notes]
}

const summaryOf = ({ accepted, acknowledged, duplicates, faults, interchanges, refused }: FileReport): string =>
  [
    ...faults.map(faultLine),
    ...acknowledged.map((each) => `acknowledged  ${verdictText(each)}`),
    `${counted(interchanges, "interchange")}: ${accepted} accepted, ${duplicates} duplicate, ${refused} refused`
  ].join("\n")

/** Files of secrets are beside the profile. */
const tryTransport = Effect.fnUntraced(function*({ transport }: PartnerProfile, path: string, json: boolean) {
  if (transport === undefined) return yield* usageError(`${path} has no transport.`)
  const found = yield* Effect.tryPromise({
    try: () => checkTransport(dirname(path), transport),
    catch: (error) => failed(`The transport of ${path} does not work: ${printable(messageOf(error))}`)
  })
  yield* Console.log(json ? JSON.stringify({ connected: found }) : found.map(printable).join("\n"))
})

interface FileFlags extends Shown {
  readonly acknowledgement: boolean
  readonly json: boolean
}

const tryFile = Effect.fnUntraced(function*(partner: PartnerProfile, file: string, { acknowledgement, json, kept, records }: FileFlags) {
  const console = yield* Console.Console
  const onResult = (result: SetResult, items: ReadonlyArray<unknown>) => console.log(json ? JSON.stringify(records ? { ...result, items } : result) : linesOf(result, items, { kept, records }).join("\n"))
  const report = yield* Effect.tryPromise({
    try: () => checkFile(partner, createReadStream(file), { onResult }),
    catch: (error) => failed(`${file} was not checked: ${messageOf(error)}`)
  })
  yield* Console.log(json ? JSON.stringify(report) : summaryOf(report))
  if (acknowledgement && !json) yield* Effect.forEach(report.acknowledgements, ({ text }) => Console.log(text.replaceAll(partner.delimiters?.segment ?? "~", (end) => `${end}\n`).trimEnd()))
  if (report.refused > 0 || report.faults.length > 0) return yield* failed("The file has faults.")
})

const check = Command.make(
  "check",
  {
    profile: Argument.String("profile").pipe(Argument.withDescription("The partner profile, a JSON file")),
    file: Argument.String("file").pipe(Argument.withDescription("The partner's file"), Argument.optional),
    connect: Flag.Boolean("connect").pipe(Flag.withDescription("Connect to the partner by the profile's transport, and look at its folders. Changes nothing there"), Flag.withDefault(false)),
    records: Flag.Boolean("records").pipe(Flag.withDescription("Print what each set would become, as JSON"), Flag.withDefault(false)),
    kept: Flag.Boolean("kept").pipe(Flag.withDescription("List every element that has no place"), Flag.withDefault(false)),
    acknowledgement: Flag.Boolean("acknowledgement").pipe(Flag.withDescription("Print the acknowledgement that the partner would get"), Flag.withDefault(false)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ acknowledgement, connect, file, json, kept, profile, records }) {
    if (Option.isNone(file) && (records || kept || acknowledgement)) return yield* usageError("--records, --kept and --acknowledgement need the partner's file.")
    const partner = yield* readProfile(profile)
    if (connect) yield* tryTransport(partner, profile, json)
    else if (Option.isNone(file)) yield* Console.log(json ? JSON.stringify({ partner: partner.partner, valid: true }) : `${profile} is a valid profile of the partner ${partner.partner}.`)
    if (Option.isSome(file)) yield* tryFile(partner, file.value, { acknowledgement, json, kept, records })
  })
).pipe(
  Command.withDescription("Try a partner profile: on a file, of which nothing is stored, and by a connection to the partner"),
  Command.withExamples([
    { command: "waybill edi check partner/profile.json --connect", description: "Whether the partner's server can be reached, with the profile's host key and secrets" },
    { command: "waybill edi check partner.json file.edi", description: "Every set, with its faults and their segment and element" },
    { command: "waybill edi check partner.json file.edi --records", description: "Also the events, invoices, orders and answers that the sets would become" },
    { command: "waybill edi check partner.json file.edi --kept --acknowledgement", description: "Also what has no place, and the 997 or 999" }
  ])
)

export const ediCommand = commandGroup("edi", "EDI files of partners", [check])
