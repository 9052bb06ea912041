/**
 * Streaming parser for JSON with documents. Yields `documents[*].files[*].content` as decoded chunks and never buffers
 * it. The rest of a record is small, with a file number in place of each content.
 */
import type { Bytes } from "../shared/Bytes.ts"
import { BodyMalformed } from "../shared/ReceivedJson.ts"
import { type Base64Decoder, base64Decoder } from "./Base64.ts"

/** Members of a file that come before its content. Later members are not known yet. */
export interface FileHead {
  readonly id: string | undefined
  readonly documentType: string | undefined
  readonly invoiceNumber: string | undefined
  readonly DOT: string | undefined
  readonly MC: string | undefined
}

export type DocumentPart =
  /** Files of a record begin in the order of their numbers, from 0, and one ends before the next begins. */
  | { readonly _tag: "FileBegins"; readonly head: FileHead }
  | { readonly _tag: "FileBytes"; readonly bytes: Bytes }
  | { readonly _tag: "FileEnds" }
  /** Everything of a record, with numbers as text where its contents were. */
  | { readonly _tag: "RecordEnds"; readonly json: unknown }

/** The response does not contain documents. */
export class DocumentsMalformed extends BodyMalformed {
  override readonly name = "DocumentsMalformed"
}

/** An object or array that is not closed yet. */
interface Frame {
  readonly isObject: boolean
  /** For objects: whether the next string is a member name. */
  namesNext: boolean
  name: string
  /** String members by name. */
  readonly texts: Map<string, string>
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Number of content characters to decode at a time. */
const pieceLength = 64 * 1024

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new DocumentsMalformed("", "is not JSON.", { cause })
  }
}

const escapeLength = (escape: string): number => escape[1] === "u" ? 6 : 2

export class DocumentsReader {
  readonly #list: boolean
  readonly #frames: Array<Frame> = []
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  readonly #encoder = new TextEncoder()
  #kept = ""
  #textFrom = 0
  #reading: "structure" | "text" | "content" = "structure"
  /** The characters of an unfinished escape sequence. */
  #escape = ""
  #decoder: Base64Decoder | undefined
  #files = 0
  #ended = false

  /** `list`: whether to expect a list of records, or one record. */
  constructor(list: boolean) {
    this.#list = list
  }

  *push(chunk: Uint8Array): Generator<DocumentPart, void, undefined> {
    let at = 0
    while (at < chunk.length) {
      if (this.#reading === "content") at = yield* this.#readContent(chunk, at)
      else if (this.#reading === "text") at = this.#readText(chunk, at)
      else at = yield* this.#readStructure(chunk, at)
    }
  }

  /** Call it after the last `push`. */
  end(): void {
    if (!this.#ended) throw new DocumentsMalformed("", "ends too early.")
  }

  get #recordDepth(): number {
    return this.#list ? 2 : 1
  }

  #keep(chunk: Uint8Array, from: number, to: number): void {
    if (this.#frames.length < this.#recordDepth) return
    try {
      this.#kept += this.#utf8.decode(chunk.subarray(from, to), { stream: true })
    } catch (cause) {
      throw new DocumentsMalformed("", "is not JSON in UTF-8.", { cause })
    }
  }

  /** Reads up to the next string, or the end of a record. */
  *#readStructure(chunk: Uint8Array, from: number): Generator<DocumentPart, number, undefined> {
    let keptTo = from
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === quote) {
        if (this.#frames.length < this.#recordDepth) throw this.#unexpected()
        this.#keep(chunk, keptTo, at + 1)
        yield* this.#beginText()
        return at + 1
      }
      if (byte === openObject || byte === openArray) {
        this.#openFrame(byte === openObject)
        if (this.#frames.length === this.#recordDepth) keptTo = at
      } else if (byte === closeObject || byte === closeArray) {
        if (this.#frames.length === this.#recordDepth) {
          this.#keep(chunk, keptTo, at + 1)
          keptTo = at + 1
          yield this.#record()
        }
        if (this.#frames.pop() === undefined) throw this.#unexpected()
        this.#ended = this.#frames.length === 0
      } else if (byte === comma || byte === colon) {
        const frame = this.#frames.at(-1)
        if (frame !== undefined) frame.namesNext = frame.isObject && byte === comma
      } else if (byte > 0x20 && this.#frames.length < this.#recordDepth) {
        throw this.#unexpected()
      }
    }
    this.#keep(chunk, keptTo, chunk.length)
    return chunk.length
  }

  #unexpected(): DocumentsMalformed {
    return new DocumentsMalformed("", this.#list ? "is not a list of documents." : "is not a record of documents.")
  }

  #openFrame(isObject: boolean): void {
    const depth = this.#frames.length
    const isList = this.#list && depth === 0
    if (this.#ended || (depth < this.#recordDepth && isObject === isList)) throw this.#unexpected()
    this.#frames.push({ isObject, namesNext: isObject, name: "", texts: new Map() })
  }

  #record(): DocumentPart {
    const json = parsed(this.#kept)
    this.#kept = ""
    this.#files = 0
    return { _tag: "RecordEnds", json }
  }

  *#beginText(): Generator<DocumentPart, void, undefined> {
    const head = this.#headOfContent()
    this.#reading = head === undefined ? "text" : "content"
    this.#textFrom = this.#kept.length
    if (head === undefined) return
    this.#decoder = base64Decoder()
    yield { _tag: "FileBegins", head }
  }

  /** The file whose content begins here, or `undefined`. */
  #headOfContent(): FileHead | undefined {
    const [record, documents, document, files, file, ...deeper] = this.#frames.slice(this.#recordDepth - 1)
    if (file === undefined || deeper.length > 0 || !file.isObject || file.namesNext || file.name !== "content") return undefined
    if (documents!.isObject || !document!.isObject || files!.isObject) return undefined
    if (record!.name !== "documents" || document!.name !== "files") return undefined
    return {
      id: file.texts.get("id"),
      documentType: document!.texts.get("documentType"),
      invoiceNumber: record!.texts.get("invoiceNumber"),
      DOT: record!.texts.get("DOT"),
      MC: record!.texts.get("MC")
    }
  }

  /** Reads up to and including the closing quote. */
  #readText(chunk: Uint8Array, from: number): number {
    let at = from
    for (; at < chunk.length; at++) {
      if (this.#escape !== "") this.#escape = ""
      else if (chunk[at] === backslash) this.#escape = "\\"
      else if (chunk[at] === quote) break
    }
    this.#keep(chunk, from, Math.min(at + 1, chunk.length))
    if (at === chunk.length) return at
    this.#reading = "structure"
    const frame = this.#frames.at(-1)
    if (frame?.isObject !== true) return at + 1
    const text = parsed(`"${this.#kept.slice(this.#textFrom)}`) as string
    if (frame.namesNext) frame.name = text
    else frame.texts.set(frame.name, text)
    return at + 1
  }

  /** Yields the content in chunks, as far as it has arrived. */
  *#readContent(chunk: Uint8Array, from: number): Generator<DocumentPart, number, undefined> {
    if (this.#escape !== "") return yield* this.#readEscape(chunk, from)
    const most = chunk.subarray(from, from + pieceLength)
    const ended = most.indexOf(quote)
    const plain = ended < 0 ? most : most.subarray(0, ended)
    const escaped = plain.indexOf(backslash)
    const characters = escaped < 0 ? plain : plain.subarray(0, escaped)
    yield* this.#decoded(this.#decoder!.push(characters))
    const next = from + characters.length
    if (escaped >= 0) {
      this.#escape = "\\"
      return next + 1
    }
    if (ended < 0) return next
    yield* this.#decoded(this.#decoder!.end())
    yield { _tag: "FileEnds" }
    this.#kept += `${this.#files++}"`
    this.#reading = "structure"
    return next + 1
  }

  /** Base64 needs no escapes, but some writers escape its slash. */
  *#readEscape(chunk: Uint8Array, from: number): Generator<DocumentPart, number, undefined> {
    let at = from
    do this.#escape += String.fromCharCode(chunk[at++]!)
    while (at < chunk.length && this.#escape.length < escapeLength(this.#escape))
    if (this.#escape.length < escapeLength(this.#escape)) return at
    const character = parsed(`"${this.#escape}"`) as string
    this.#escape = ""
    yield* this.#decoded(this.#decoder!.push(this.#encoder.encode(character)))
    return at
  }

  *#decoded(bytes: Bytes | undefined): Generator<DocumentPart, void, undefined> {
    if (bytes === undefined) throw new DocumentsMalformed("", "has a content that is not base64.")
    if (bytes.length > 0) yield { _tag: "FileBytes", bytes }
  }
}
