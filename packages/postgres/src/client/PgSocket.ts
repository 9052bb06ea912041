/** A pg client that can read binary rows, and the cancel request; pg has neither. */
import pg from "pg"
import type { PgQuery } from "./PgConnection.ts"
import { Parser } from "pg-protocol/dist/parser.js"

/**
 * pg can request binary rows but reads every column as UTF-8 text, which corrupts bytes beyond 127. This
 * client reads binary columns as bytes, and everything else as pg does. The bytes are a view on the
 * socket's buffer, valid until pg reads the next packet, after it has decoded the row.
 *
 * @stability unstable
 */
export class BinaryClient extends pg.Client {
  /** False if pg's parser is not the supported one; rows are then requested as text. */
  readonly readsBinary = typeof internals.handlePacket === "function"

  constructor(config: pg.ClientConfig) {
    super(config)
    const connection = this.connection as unknown as WireConnection
    connection.attachListeners = (stream) => {
      const parser = binaryParser()
      stream.on("data", (bytes) => {
        parser.parse(bytes, (message) => {
          connection.emit(message.name === "error" ? "errorMessage" : message.name, message)
        })
      })
    }
  }
}

/** Whether bulk statements may ask this client for binary rows. */
export const readsBinary = (client: object): boolean => client instanceof BinaryClient && client.readsBinary

/** The parts of pg's connection that are used here; pg's types do not include them. */
interface WireConnection {
  attachListeners: (stream: NodeJS.ReadableStream) => void
  readonly emit: (event: string, message: unknown) => boolean
}

interface WireMessage {
  readonly name: string
  readonly fields?: ReadonlyArray<{ readonly format?: string }>
}

type HandlePacket = (this: WireParser, offset: number, code: number, length: number, bytes: Buffer) => WireMessage

interface WireParser {
  handlePacket: HandlePacket
  readonly parse: (bytes: unknown, emit: (message: WireMessage) => void) => void
}

const internals = Parser.prototype as unknown as WireParser

const dataRow = 68
const rowDescription = 84

const binaryParser = (): WireParser => {
  const parser = new Parser() as unknown as WireParser
  const asText = internals.handlePacket
  let binary = false
  parser.handlePacket = function(offset, code, length, bytes) {
    if (binary && code === dataRow) return { name: "dataRow", ...rowOfBytes(bytes, offset), length } as WireMessage
    const message = asText.call(this, offset, code, length, bytes)
    if (code === rowDescription) binary = message.fields?.[0]?.format === "binary"
    return message
  }
  return parser
}

const rowOfBytes = (bytes: Buffer, start: number) => {
  const fields = new Array<Buffer | null>(bytes.readInt16BE(start))
  let offset = start + 2
  for (let index = 0; index < fields.length; index++) {
    const length = bytes.readInt32BE(offset)
    offset += 4
    fields[index] = length === -1 ? null : bytes.subarray(offset, offset += length)
  }
  return { fields, fieldCount: fields.length }
}

/** A statement for pg with a single own property: pg copies all property descriptors, which would cost more than sending the statement. */
export class AskedQuery {
  private readonly own: readonly [PgQuery, number | undefined]

  constructor(query: PgQuery, timeoutMillis: number | undefined) {
    this.own = [query, timeoutMillis]
  }

  get text() {
    return this.own[0].text
  }
  get values() {
    return this.own[0].values
  }
  get types() {
    return this.own[0].types
  }
  get name() {
    return this.own[0].name
  }
  get rowMode() {
    return this.own[0].rowMode
  }
  get binary() {
    return this.own[0].binary
  }
  get queryMode() {
    return this.own[0].queryMode
  }
  get query_timeout() {
    return this.own[1]
  }
}

/**
 * The first statement of a transaction together with its BEGIN: both are sent and answered in one round trip. After an error
 * in BEGIN the server does not run the statement.
 *
 * @stability unstable
 */
export class FirstQuery extends pg.Query {
  private readonly opening: string
  private opened = false
  // pg looks for this property on every query
  readonly query_timeout: number | undefined

  constructor(query: AskedQuery, begin: string) {
    super(query as unknown as pg.QueryConfig)
    this.query_timeout = query.query_timeout
    this.opening = begin
  }

  prepare(connection: QueryConnection): void {
    const own = this as unknown as OwnQuery
    // set the name before BEGIN: pg assigns the name to the first statement that the server has parsed
    if (own.name !== undefined && !own.hasBeenParsed(connection)) {
      connection.parse({ text: own.text, name: own.name, types: undefined })
      connection.submittedNamedStatements[own.name] = own.text
    }
    connection.parse({ text: this.opening, name: "", types: undefined })
    connection.bind({ portal: "", statement: "", values: [], binary: false })
    connection.execute({ portal: "" })
    inherited.prepare.call(this, connection)
  }

  handleCommandComplete(message: unknown, connection: QueryConnection): void {
    if (this.opened) inherited.handleCommandComplete.call(this, message, connection)
    this.opened = true
  }
}

/** The parts of pg's query and connection that are used here; pg's types do not include them. */
interface OwnQuery {
  readonly text: string
  readonly name: string | undefined
  readonly hasBeenParsed: (connection: QueryConnection) => boolean
}

interface QueryConnection {
  readonly submittedNamedStatements: Record<string, string>
  readonly parse: (message: { readonly text: string; readonly name: string; readonly types: undefined }) => void
  readonly bind: (message: { readonly portal: string; readonly statement: string; readonly values: ReadonlyArray<unknown>; readonly binary: boolean }) => void
  readonly execute: (message: { readonly portal: string }) => void
}

const inherited = pg.Query.prototype as unknown as {
  readonly prepare: (this: unknown, connection: QueryConnection) => void
  readonly handleCommandComplete: (this: unknown, message: unknown, connection: QueryConnection) => void
}

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

/** How long a cancelled statement or a rollback may take before its connection is closed. */
export const cancelDeadlineMs = 2000

interface CancelConnection {
  readonly stream: { readonly destroy: () => void; readonly setTimeout: (ms: number, then: () => void) => void }
  readonly connect: (port: number | string, host?: string) => void
  readonly requestSsl: () => void
  readonly cancel: (processID: number, secretKey: number) => void
  readonly on: (event: "connect" | "sslconnect" | "error" | "end", listener: () => void) => void
}
