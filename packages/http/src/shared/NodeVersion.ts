/**
 * Loaded before everything else of this package, because its dependencies fail on an older Node with errors that do not say why.
 */

/** The oldest Node that the service runs on: the `engines` of this package. */
const oldest = [22, 19] as const

/** Throws on an older Node. Other runtimes have no such version. */
export const requireNode = (version: string | undefined = globalThis.process?.versions.node): void => {
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number)
  if (version === undefined || major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return
  throw new Error(`Waybill needs Node ${oldest.join(".")} or newer, and this is Node ${version}. Only @waybill/client runs on Node 20.`)
}

requireNode()
