/** The cancel request for a statement of a pg client, which pg has not. */
import pg from "pg"
import { cancelDeadlineMs } from "./PgConnection.ts"

/** The properties that a cancel request needs; clients of pg's native bindings lack them. */
interface Cancellable {
  readonly processID?: number | null
  readonly secretKey?: number | null
  readonly host?: string
  readonly port?: number
  readonly ssl?: unknown
}

/**
 * Sends a cancel request for the statement that `client` is running, over a separate connection without login.
 * Resolves when the server has accepted the request, or when it could not be sent. Never rejects.
 *
 * @stability unstable
 */
export const requestCancel = (client: object): Promise<void> => {
  const { host, port, processID, secretKey, ssl } = client as Cancellable
  if (processID == null || secretKey == null || host === undefined || port === undefined) return Promise.resolve()
  return new Promise((resolve) => {
    const connection = new pg.Connection({ ssl: ssl ?? false } as pg.ConnectionConfig) as unknown as CancelConnection
    const ask = () => connection.cancel(processID, secretKey)
    connection.on("connect", () => ssl ? connection.requestSsl() : ask())
    connection.on("sslconnect", ask)
    connection.on("error", () => connection.stream.destroy())
    connection.on("end", resolve)
    connection.stream.setTimeout(cancelDeadlineMs, () => connection.stream.destroy())
    if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, host)
  })
}

interface CancelConnection {
  readonly stream: { readonly destroy: () => void; readonly setTimeout: (ms: number, then: () => void) => void }
  readonly connect: (port: number | string, host?: string) => void
  readonly requestSsl: () => void
  readonly cancel: (processID: number, secretKey: number) => void
  readonly on: (event: "connect" | "sslconnect" | "error" | "end", listener: () => void) => void
}
