/** The folders `<tenant>/<partner>` of the EDI directory, and who a partner is. */
import { type Principal, qualifiedClient } from "@waybill/core"
import { partnerProfile, type PartnerProfile } from "@waybill/edi"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { messageOf } from "../ErrorMessage.ts"

export interface Partner {
  readonly tenantId: string
  readonly folder: string
  readonly profile: PartnerProfile
}

/** Limits of the folder of a partner. */
export interface EdiLimits {
  /** How long files that were read or sent are kept. */
  readonly keepMillis: number
  /** Files that wait in `inbox`, from a transport, and in `outbox`. */
  readonly maxWaitingFiles: number
}

export const defaultEdiLimits: EdiLimits = { keepMillis: 365 * 86_400_000, maxWaitingFiles: 5_000 }

/** The folder of files that are read while their sender waits. */
export const postedFolder = "posted"

/** The beginning of the names of partners' clients. */
export const clientPrefix = "edi-"

export const clientOf = ({ partner }: PartnerProfile): string => qualifiedClient(`${clientPrefix}${partner}`)

/** A partner writes as a carrier: as the one of its profile, if that names one. */
export const principalOf = ({ profile, tenantId }: Partner): Principal => ({
  tenantId,
  client: clientOf(profile),
  roles: ["carrier"],
  accounts: [],
  origin: "key",
  ...profile.carrier
})

/** Folders of partners, and folders of tenants that cannot be read. */
interface EdiFolders {
  readonly partners: ReadonlyArray<{ readonly tenantId: string; readonly partner: string }>
  readonly unreadable: ReadonlyArray<{ readonly tenantId: string; readonly problem: string }>
}

/** Rejects if the directory itself cannot be read. */
export const foldersIn = async (directory: string): Promise<EdiFolders> => {
  const names = async (path: string) => (await readdir(path, { withFileTypes: true })).filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name)
  // the directory is created by the first poll, and folders of partners may go at any time
  const present = (path: string) => names(path).catch((error: { readonly code?: unknown }) => error.code === "ENOENT" ? [] : Promise.reject(error))
  const found = await Promise.all((await present(directory)).map(async (tenantId): Promise<EdiFolders> => {
    try {
      return { partners: (await present(join(directory, tenantId))).map((partner) => ({ tenantId, partner })), unreadable: [] }
    } catch (error) {
      return { partners: [], unreadable: [{ tenantId, problem: `${join(directory, tenantId)} cannot be read: ${messageOf(error)}` }] }
    }
  }))
  return { partners: found.flatMap(({ partners }) => partners), unreadable: found.flatMap(({ unreadable }) => unreadable) }
}

export const profileIn = async (folder: string): Promise<PartnerProfile | { readonly problem: string }> => {
  try {
    return partnerProfile(JSON.parse(await readFile(join(folder, "profile.json"), "utf8")))
  } catch (error) {
    return { problem: `${join(folder, "profile.json")} is no partner profile: ${messageOf(error)}` }
  }
}
