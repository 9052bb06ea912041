/** The settings of both programs, from environment variables. */

export interface Settings {
  readonly databaseUrl: string
  /** 32 bytes in base64. It seals the signing secrets of webhooks: keep it, and give the same one to every process. */
  readonly sealingKey: string
  readonly host: string
  readonly port: number
  /** For probes and metrics, on an address that only your network reaches. */
  readonly probesHost: string
  readonly probesPort: number
  /** The address that browsers use. With https, cookies are sent over https only. */
  readonly publicUrl: string
  /** Whether the web process delivers webhooks itself, or leaves them to worker processes. */
  readonly delivers: boolean
  /** Private networks that webhooks may reach; none on the internet. */
  readonly egressAllow: ReadonlyArray<string>
  /** How long a stopping process still serves, until the load balancer has noticed. */
  readonly drainMillis: number
}

export const readSettings = (env: NodeJS.ProcessEnv): Settings => {
  const required = (name: string): string => {
    const value = env[name]
    if (value === undefined || value === "") throw new Error(`${name} is not set. See the settings in the README.`)
    return value
  }
  const wholeNumber = (name: string, otherwise: number): number => {
    const value = Number(env[name] || otherwise)
    if (!Number.isInteger(value) || value < 0) throw new Error(`${name} is a whole number from 0.`)
    return value
  }
  const delivery = env["DELIVERY"] || "here"
  if (delivery !== "here" && delivery !== "workers") throw new Error("DELIVERY is here or workers.")
  const port = wholeNumber("PORT", 3000)
  return {
    databaseUrl: required("DATABASE_URL"),
    sealingKey: required("SEALING_KEY"),
    host: env["HOST"] || "127.0.0.1",
    port,
    probesHost: env["PROBES_HOST"] || "127.0.0.1",
    probesPort: wholeNumber("PROBES_PORT", 9464),
    publicUrl: env["PUBLIC_URL"] || `http://127.0.0.1:${port}`,
    delivers: delivery === "here",
    egressAllow: (env["EGRESS_ALLOW"] || "").split(",").map((each) => each.trim()).filter((each) => each !== ""),
    drainMillis: wholeNumber("DRAIN_SECONDS", 0) * 1000
  }
}
