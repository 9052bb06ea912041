/** `waybill documents move`: moves files of documents to another place while the service runs. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { documentsText } from "../config/ServerConfig.ts"
import { observed, readConfig } from "./ServeCommand.ts"
import { moveDocuments, type MoveTotals } from "./shared/MoveDocuments.ts"
import { commandGroup } from "./shared/OperatorCommands.ts"
import { failed, usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printProgress, printResult } from "./shared/Output.ts"
import { printable } from "../Printable.ts"

/** Files between two lines of progress. */
const progressEvery = 100

const defaultKeepSeconds = 600

const moveCommand = Command.make(
  "move",
  {
    keep: Flag.Int("keep-seconds").pipe(
      Flag.withDescription(`How long a file's former copy stays, for downloads that began before it was moved; default: ${defaultKeepSeconds}`),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ json, keep }) {
    const keepSeconds = Option.getOrElse(keep, () => defaultKeepSeconds)
    if (keepSeconds < 0) return yield* usageError("--keep-seconds is a number from 0.")
    const config = yield* readConfig
    const { documents, documentsAlso } = config
    if (documentsAlso === undefined) {
      return yield* usageError("Set WAYBILL_DOCUMENTS to the place that files go to, and WAYBILL_DOCUMENTS_ALSO to the place that has them, as for the servers.")
    }
    const [from, to] = [documentsText(documentsAlso), documentsText(documents)]
    yield* printProgress(`Moving documents from ${from} to ${to}.`)
    const totals = yield* moveDocuments(config, documentsAlso, keepSeconds * 1000, ({ done, file, invoiceNumber, of, outcome, tenantId }) => {
      const line = outcome === "missing" || outcome === "damaged"
        ? [printProgress(`File ${printable(file.fileId)} of invoice number ${printable(invoiceNumber)} of ${tenantId}: ${faults[outcome]}`)]
        : []
      return Effect.all([...line, ...done % progressEvery === 0 || done === of ? [printProgress(`${done} of ${of} files looked at.`)] : []], { discard: true })
    }).pipe(Effect.scoped, Effect.provide(observed(config)))
    yield* printResult(json, { json: { from, to, ...totals }, text: textOf(totals, from) })
    const { damaged, missing } = totals
    if (missing + damaged > 0) return yield* failed(`${counted(missing + damaged, "file")} could not be moved; see above. Everything else was.`)
  })
).pipe(
  Command.withDescription("Move the files of documents from WAYBILL_DOCUMENTS_ALSO to WAYBILL_DOCUMENTS while servers with these settings run. Can be stopped and repeated"),
  Command.withExamples([{
    command: "WAYBILL_DOCUMENTS=s3://papers/waybill WAYBILL_DOCUMENTS_ALSO=postgres waybill documents move",
    description: "Out of the database, after every server has both settings"
  }])
)

const faults = {
  missing: "its bytes are in neither place.",
  damaged: "a place does not have the bytes that were uploaded. They stay where they are."
} as const

const textOf = ({ bytes, deleted, left, moved, there }: MoveTotals, from: string): string => [
  `${counted(moved, "file")} moved, ${bytes.toLocaleString("en-US")} bytes; ${there} there already${deleted === 0 ? "" : `; ${deleted} deleted meanwhile`}.`,
  left === 0
    ? `Nothing is left to remove from ${from}.`
    : `${counted(left, "former copy", "former copies")} not removed yet: downloads may read ${left === 1 ? "it" : "them"}. Run the command again later to remove ${left === 1 ? "it" : "them"}.`
].join("\n")

export const documentsCommand = commandGroup("documents", "Move files of documents to another place", [moveCommand])
