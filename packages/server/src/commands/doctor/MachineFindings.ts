/** Checks without a database: the data directory, the addresses webhooks may go to, and the keys. */
import { isAllowedAddress } from "@waybill/http"
import { Effect, Redacted } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import { rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { messageOf } from "../../ErrorMessage.ts"
import { hintOf, readText } from "../../config/DataDir.ts"
import type { ServerConfig } from "../../config/ServerConfig.ts"
import type { SealingKeys } from "../../config/Variables.ts"
import { shortPath } from "../../serve/Banner.ts"
import { broken, type Finding, ok, warning } from "./Finding.ts"

/** The directory, or its nearest existing parent. */
const nearest = async (path: string): Promise<string> =>
  await stat(path).then(() => path, () => dirname(path) === path ? path : nearest(dirname(path)))

/** Why the directory cannot be written to. */
const tryToWrite = async (directory: string): Promise<{ readonly error: unknown } | undefined> => {
  const draft = join(directory, `.waybill-doctor-${randomUUID()}`)
  try {
    // an empty file needs no space on the disk
    await writeFile(draft, randomBytes(65_536), { mode: 0o600, flag: "wx", flush: true })
    return undefined
  } catch (error) {
    return { error }
  } finally {
    await rm(draft, { force: true }).catch(() => undefined)
  }
}

export const dataDirFinding = (config: ServerConfig): Effect.Effect<Finding> =>
  Effect.promise(async () => {
    const { dataDir, databaseUrl, demo, operatorKeys, sealingKeys } = config
    const path = shortPath(dataDir) || dataDir
    const isNeeded = demo || databaseUrl === undefined || operatorKeys === undefined || sealingKeys === undefined
    const there = await nearest(dataDir)
    const problem = await tryToWrite(there)
    if (problem === undefined) return ok(there === dataDir ? `${path} can be written to` : `${path} does not exist yet and can be created`)
    return isNeeded
      ? broken(`${path} cannot be written to: ${messageOf(problem.error)}`, hintOf(path, problem.error))
      : ok(`${path} cannot be written to, and is not needed: database and keys are given`)
  })

/** Metadata service of cloud providers, which returns credentials. */
const metadataAddress = "169.254.169.254"

export const egressFinding = ({ egress, egressText }: ServerConfig): Finding => {
  if (egressText === "") return ok("webhooks go to public addresses over https, and nowhere else")
  if (isAllowedAddress(metadataAddress, egress)) {
    return broken(`webhooks may reach ${metadataAddress}, the metadata service of clouds, which returns credentials`, "Take that address out of WAYBILL_EGRESS_ALLOW.")
  }
  if (egress.networks.some(({ prefixLength }) => prefixLength === 0)) {
    return warning("webhooks may reach every private address, over plain http, too", "Name the networks of your receivers in WAYBILL_EGRESS_ALLOW instead of all of them.")
  }
  return ok(`webhooks go to public addresses over https, and to ${egressText}`)
}

/** The sealing keys of this machine. Generates none. */
export const sealingKeysOf = Effect.fnUntraced(function*(config: ServerConfig) {
  if (config.sealingKeys !== undefined) return config.sealingKeys
  const kept = yield* Effect.orElseSucceed(readText(config.dataDir, "sealing-key"), () => undefined)
  const bytes = Buffer.from(kept ?? "", "base64")
  const keys: SealingKeys | undefined = bytes.length === 32 ? [Redacted.make(new Uint8Array(bytes))] : undefined
  return keys
})
