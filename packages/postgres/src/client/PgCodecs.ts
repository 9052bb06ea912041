/** Decodes the result columns of one session of Waybill's own pool, in Postgres' binary format. */
import * as Codecs from "@effect/sql-pg/PgTypes"
import * as Result from "effect/Result"
import { arrayOfBytes, type BinaryDecoder, columns, type ColumnType, timestampTextOfBytes, unsupported } from "./PgTypes.ts"

/**
 * The codecs of one session. Bulk and ordinary statements decode some types to different values, and a session decodes the
 * rows of one statement at a time, so each statement sets the mode first.
 */
export class ResultCodecs {
  readonly registry: Codecs.Registry = Codecs.makeRegistry()
  private isBulk = false
  private failure: { readonly cause: unknown } | undefined = undefined

  constructor() {
    for (const [type, { arrayOid, binary, oid }] of Object.entries(columns)) {
      const decode = this.inMode(binary, ordinary[type as ColumnType])
      if (!builtIn.has(type)) this.register(oid, decode)
      if (arrayOid !== undefined) this.register(arrayOid, (bytes, at) => arrayOfBytes(bytes, at, decode))
    }
    for (const oid of ordinaryOnly) {
      const plain: BinaryDecoder = oid === Codecs.OID.timestamp
        ? timestampTextOfBytes
        : (bytes, at, size) => Result.getOrThrow(Codecs.decode(bytes.subarray(at, at + size), oid, 1))
      this.register(oid, this.inMode(unsupported(oid), plain))
    }
  }

  begin(isBulk: boolean): void {
    this.isBulk = isBulk
    this.failure = undefined
  }

  /** Why a value of the statement could not be decoded. */
  decodeFailure(): { readonly cause: unknown } | undefined {
    return this.failure
  }

  private inMode(bulk: BinaryDecoder, plain: BinaryDecoder | undefined): BinaryDecoder {
    if (plain === undefined) return bulk
    return (bytes, at, size) => this.isBulk ? bulk(bytes, at, size) : plain(bytes, at, size)
  }

  /** A codec that throws would close the connection, so a failure is kept until the statement has ended. */
  private register(oid: number, decode: BinaryDecoder): void {
    const read = (bytes: Uint8Array, at: number, size: number): Result.Result<unknown, never> => {
      try {
        return Result.succeed(decode(bytes, at, size))
      } catch (cause) {
        this.failure ??= { cause }
        return Result.succeed(null)
      }
    }
    this.registry.register<any>(oid, {
      encode: Result.succeed,
      decode: (bytes) => read(bytes, 0, bytes.length),
      write: (sink, bytes) => {
        sink.raw(bytes)
        return Result.void
      },
      read
    })
  }
}

/** Scalars that the package's own codecs decode to the same values, without an allocation for each value. */
const builtIn: ReadonlySet<string> = new Set<ColumnType>([
  "bool", "bpchar", "float4", "float8", "int2", "int4", "name", "oid", "text", "uuid", "varchar"
])

const parsed = (decode: BinaryDecoder): BinaryDecoder => (bytes, at, size) => JSON.parse(decode(bytes, at, size) as string)

/** Values of ordinary statements that differ from those of bulk statements. */
const ordinary: Partial<Record<ColumnType, BinaryDecoder>> = {
  json: parsed(columns.json.binary),
  jsonb: parsed(columns.jsonb.binary),
  timestamptz: (bytes, at, size) => new Date(columns.timestamptz.binary(bytes, at, size) as number)
}

/** Types that a bulk statement cannot return. */
const ordinaryOnly: ReadonlyArray<number> = [
  Codecs.OID.cidr, Codecs.OID.inet, Codecs.OID.interval, Codecs.OID.numeric, Codecs.OID.time, Codecs.OID.timestamp, Codecs.OID.timetz
]
