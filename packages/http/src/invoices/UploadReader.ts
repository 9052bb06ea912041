/**
 * Streaming parser for the JSON of an upload. Yields the strings at `documents[*].files[*]` as decoded chunks and never
 * buffers them. The rest of the JSON is small, and has a file number in place of each file.
 */
import { maxDepth } from "@waybill/core"
import { type Base64Decoder, base64Decoder, maxDocumentsPerUpload, maxFileBytes, maxFilesPerDocument } from "@waybill/core/invoices"
import { ByteBuffer } from "../shared/ByteBuffer.ts"
import { UnescapedText } from "./UnescapedText.ts"

/** Maximum bytes of JSON besides the files. */
export const maxRecordBytes = 1024 * 1024

/** Base64 of the largest file with line breaks. Limits endless whitespace in place of a file. */
const maxFileCharacters = 2 * maxFileBytes

export type FilePath = readonly ["documents", number, "files", number]

export type UploadPart =
  /** Files begin in the order of their numbers, from 0, and one ends before the next begins. */
  | { readonly _tag: "FileBegins"; readonly path: FilePath }
  | { readonly _tag: "FileBytes"; readonly bytes: Uint8Array }
  | { readonly _tag: "FileEnds" }
  /** Always the last part. */
  | { readonly _tag: "Refused"; readonly why: UploadFault; readonly path: FilePath | undefined }

/** `notJson`: a file's text is not a JSON string. `notBase64`: the string is not base64. `tooMany`: its list is full. */
type UploadFault = "notJson" | "notBase64" | "tooDeep" | "tooLarge" | "tooMany"

/** An object or array that is not closed yet. */
interface Frame {
  readonly isObject: boolean
  /** For objects: whether the next string is a member name. */
  namesNext: boolean
  name: string | undefined
  index: number
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Longer than `documents` with every letter escaped, so a longer name is irrelevant. */
const longestName = 60

/**
 * It only locates files. `rest` is validated when it is parsed: each file is replaced by a number in quotes, so the
 * rest is valid JSON exactly if the whole is and each file's string is.
 */
export class UploadReader {
  private readonly frames: Array<Frame> = []
  private readonly kept = new ByteBuffer()
  private reading: "structure" | "text" | "file" = "structure"
  private escaped = false
  private textFrom = 0
  private files = 0
  private file: { readonly path: FilePath; readonly text: UnescapedText; readonly decoder: Base64Decoder; characters: number } | undefined

  /** Parses the next bytes. Nothing may be pushed after a fault. */
  push(chunk: Uint8Array): ReadonlyArray<UploadPart> {
    const parts: Array<UploadPart> = []
    let at = 0
    while (at < chunk.length) {
      const next = this.reading === "structure"
        ? this.readStructure(chunk, at, parts)
        : this.reading === "text"
        ? this.readText(chunk, at)
        : this.readFile(chunk, at, parts)
      if (typeof next !== "number") {
        parts.push({ _tag: "Refused", why: next, path: this.file?.path })
        return parts
      }
      at = next
      if (this.kept.length > maxRecordBytes) {
        parts.push({ _tag: "Refused", why: "tooLarge", path: undefined })
        return parts
      }
    }
    return parts
  }

  /** The JSON without the files, after the last push. Valid until the next push. */
  get rest(): Uint8Array {
    return this.kept.bytes(0)
  }

  /** Reads up to and including an opening quote. */
  private readStructure(chunk: Uint8Array, from: number, parts: Array<UploadPart>): number | UploadFault {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === quote) {
        this.kept.append(chunk, from, at + 1)
        const path = this.filePath()
        if (path === undefined) this.beginText()
        else if (!this.beginFile(path, parts)) return "tooMany"
        return at + 1
      }
      if (byte === openObject || byte === openArray) {
        if (this.frames.length === maxDepth) return "tooDeep"
        this.frames.push({ isObject: byte === openObject, namesNext: byte === openObject, name: undefined, index: 0 })
      } else if (byte === closeObject || byte === closeArray) {
        this.frames.pop()
      } else if (byte === comma || byte === colon) {
        this.separate(byte)
      }
    }
    this.kept.append(chunk, from, chunk.length)
    return chunk.length
  }

  private separate(byte: number): void {
    const frame = this.frames.at(-1)
    if (frame === undefined) return
    if (byte === comma) frame.index += 1
    frame.namesNext = frame.isObject && byte === comma
  }

  private beginText(): void {
    this.reading = "text"
    this.textFrom = this.kept.length
  }

  /** Reads up to and including the closing quote. */
  private readText(chunk: Uint8Array, from: number): number {
    let at = from
    for (; at < chunk.length; at++) {
      if (this.escaped) this.escaped = false
      else if (chunk[at] === backslash) this.escaped = true
      else if (chunk[at] === quote) break
    }
    this.kept.append(chunk, from, Math.min(at + 1, chunk.length))
    if (at === chunk.length) return at
    this.reading = "structure"
    const frame = this.frames.at(-1)
    if (frame?.namesNext === true) frame.name = this.nameRead()
    return at + 1
  }

  private nameRead(): string | undefined {
    const length = this.kept.length - 1 - this.textFrom
    if (length > longestName) return undefined
    try {
      return JSON.parse(`"${decoder.decode(this.kept.bytes(this.textFrom).subarray(0, length))}"`)
    } catch {
      return undefined
    }
  }

  private filePath(): FilePath | undefined {
    if (this.frames.length !== 4) return undefined
    const [root, documents, document, files] = this.frames as [Frame, Frame, Frame, Frame]
    const isPlace = root.isObject && !documents.isObject && document.isObject && !files.isObject &&
      root.name === "documents" && document.name === "files"
    return isPlace ? ["documents", documents.index, "files", files.index] : undefined
  }

  /** Each file has a cost before its first byte, so files are counted as they begin. */
  private beginFile(path: FilePath, parts: Array<UploadPart>): boolean {
    const [, document, , file] = path
    this.reading = "file"
    this.file = { path, text: new UnescapedText(), decoder: base64Decoder(), characters: 0 }
    if (document >= maxDocumentsPerUpload || file >= maxFilesPerDocument) return false
    parts.push({ _tag: "FileBegins", path })
    return true
  }

  private readFile(chunk: Uint8Array, from: number, parts: Array<UploadPart>): number | UploadFault {
    const file = this.file!
    const { characters, ended, next } = file.text.read(chunk, from)
    if (characters === undefined) return "notJson"
    file.characters += characters.length
    if (file.characters > maxFileCharacters) return "tooLarge"
    const bytes = file.decoder.push(characters)
    if (bytes === undefined) return "notBase64"
    if (bytes.length > 0) parts.push({ _tag: "FileBytes", bytes })
    if (!ended) return next
    const last = file.decoder.end()
    if (last === undefined) return "notBase64"
    if (last.length > 0) parts.push({ _tag: "FileBytes", bytes: last })
    parts.push({ _tag: "FileEnds" })
    const number = encoder.encode(`${this.files++}"`)
    this.kept.append(number, 0, number.length)
    this.file = undefined
    this.reading = "structure"
    return next
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
