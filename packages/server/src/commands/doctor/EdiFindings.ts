/** Checks of the EDI directory: its partners' profiles, and whether their secrets can be read. Makes no connection. */
import { isFull } from "@waybill/edi/transports"
import { Effect } from "effect"
import { access, constants } from "node:fs/promises"
import { join } from "node:path"
import { messageOf } from "../../ErrorMessage.ts"
import type { ServerConfig } from "../../config/ServerConfig.ts"
import { checkSecrets } from "../../edi/EdiMailboxes.ts"
import { type EdiLimits, foldersIn, profileIn } from "../../edi/EdiPartners.ts"
import { counted } from "../shared/Output.ts"
import { broken, type Finding, ok } from "./Finding.ts"
import { fullDiskOf } from "./FullDisk.ts"

/** A longer list would not be read. */
const maxProblems = 5

export const ediFinding = ({ ediDir, ediLimits }: Pick<ServerConfig, "ediDir" | "ediLimits">): Effect.Effect<Finding> =>
  ediDir === undefined ? Effect.succeed(ok("no EDI files are read")) : Effect.promise(() => findingOf(ediDir, ediLimits))

const findingOf = async (directory: string, limits: EdiLimits): Promise<Finding> => {
  try {
    await access(directory, constants.W_OK)
  } catch (error) {
    // the server creates it
    if ((error as { readonly code?: unknown }).code === "ENOENT") return ok(`${directory} does not exist yet`)
    return broken(`${directory} cannot be written to`, "Correct WAYBILL_EDI_DIR, or the owner of the directory.")
  }
  const full = await fullDiskOf(directory)
  if (full !== undefined) return broken(full, "Free space on it. Files are not read or written until then.")
  const { partners, unreadable } = await foldersIn(directory)
  const ofPartners = (await Promise.all(partners.map(({ partner, tenantId }) => problemOf(join(directory, tenantId, partner), limits)))).filter((problem) => problem !== undefined)
  const problems = [...unreadable.map(({ problem }) => `${problem}.`), ...ofPartners]
  return problems.length === 0
    ? ok(`${counted(partners.length, "partner")} in ${directory}`)
    : broken(problems.slice(0, maxProblems).join(" "), `Correct ${counted(problems.length, "partner")}; \`waybill edi check <profile> --connect\` tries one. The others are served.`)
}

const problemOf = async (folder: string, { maxWaitingFiles }: EdiLimits): Promise<string | undefined> => {
  const profile = await profileIn(folder)
  if ("problem" in profile) return profile.problem
  try {
    if (profile.transport !== undefined) await checkSecrets(folder, profile.transport)
  } catch (error) {
    return `${join(folder, "profile.json")}: ${messageOf(error)}`
  }
  const outbox = join(folder, "outbox")
  try {
    if (!(await isFull(folder, "outbox", maxWaitingFiles))) return undefined
    return `${outbox} is full: ${maxWaitingFiles} files wait for the partner, which is not read until they are taken away.`
  } catch (error) {
    return `${outbox} cannot be read: ${messageOf(error)}`
  }
}
