/** Names that begin with `WAYBILL_` and are no setting of the server: misspelled ones are refused, and others have a warning. */
import { editDistance } from "@waybill/core"
import { fileNameOf, type VariableFault } from "./Variable.ts"
import { variableNames } from "./Variables.ts"

const prefix = "WAYBILL_"

/** Read by commands, by `npm start`, and for the secrets of EDI partners. */
const otherNames = /^WAYBILL_(?:URL|TENANT|API_KEY|WEBHOOK_SECRET|LAUNCHER|EDI_SECRET_.*)$/

/** `names` are those of the environment. */
export const namesOfOthers = (names: ReadonlyArray<string>): { readonly faults: ReadonlyArray<VariableFault>; readonly warnings: ReadonlyArray<string> } => {
  const services = names.filter((name) => name.endsWith("_SERVICE_HOST")).map((name) => name.slice(0, -"_SERVICE_HOST".length))
  const unknown = names.filter((name) => name.startsWith(prefix) && !variableNames.includes(name) && !otherNames.test(name) && !isOfService(name, services))
  const faults = unknown.flatMap(misspelling)
  const ignored = unknown.filter((name) => !faults.some(({ variable }) => variable === name))
  return {
    faults,
    warnings: ignored.length === 0 ? [] : [`The server has no setting named ${ignored.join(", ")}, and ignores ${ignored.length === 1 ? "it" : "them"}. waybill --help lists all settings.`]
  }
}

/** Kubernetes sets such variables in a pod for each service of its namespace. */
const isOfService = (name: string, services: ReadonlyArray<string>): boolean =>
  services.some((service) => name === `${service}_PORT` || name.startsWith(`${service}_PORT_`) || name.startsWith(`${service}_SERVICE_`))

/** A name one or two edits away from a setting, or the file form of a setting that has none. */
const misspelling = (name: string): ReadonlyArray<VariableFault> => {
  const withoutFile = variableNames.find((known) => fileNameOf(known) === name)
  if (withoutFile !== undefined) return [{ variable: name, problem: `is not known: ${withoutFile} has no form that names a file. Put the value itself into ${withoutFile}` }]
  const maxEdits = name.length > prefix.length + 6 ? 2 : 1
  const closest = variableNames.find((known) => editDistance(name, known) <= maxEdits)
  return closest === undefined ? [] : [{ variable: name, problem: `is not known; ${closest} is. Correct the name, or remove it` }]
}
