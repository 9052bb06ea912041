/** Reads document records as they arrive: with their contents in memory, or with every file passed to a function. */
import { type Bytes, joined } from "../shared/Bytes.ts"
import type { OpenAnswer } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import { checksOf, type JsonObject } from "../shared/ReceivedJson.ts"
import { type DocumentPart, DocumentsMalformed, DocumentsReader, type FileHead } from "./DocumentsReader.ts"
import type { ArrivingFile, DocumentsRecord, FileTaker, SupportingDocuments } from "./SupportingDocuments.ts"

type Parts = AsyncIterator<DocumentPart, void, undefined>

/** Yields each record of a response once it is complete. */
export async function* recordsIn<Record>(
  answer: OpenAnswer,
  expected: "list" | "record",
  read: (parts: Parts) => AsyncGenerator<Record, void, undefined>
): AsyncGenerator<Record, void, undefined> {
  try {
    yield* read(partsOf(answer, expected))
  } catch (cause) {
    if (!(cause instanceof DocumentsMalformed)) throw cause
    throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not what this call promises. " + cause.message, { cause })
  }
}

async function* partsOf({ pieces }: OpenAnswer, expected: "list" | "record"): AsyncGenerator<DocumentPart, void, undefined> {
  const reader = new DocumentsReader(expected === "list")
  for await (const piece of pieces) yield* reader.push(piece)
  reader.end()
}

export async function* withContents(parts: Parts): AsyncGenerator<SupportingDocuments, void, undefined> {
  let contents: Array<Bytes> = []
  let pieces: Array<Bytes> = []
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    const part = next.value
    if (part._tag === "FileBytes") pieces.push(part.bytes)
    else if (part._tag === "FileEnds") {
      contents.push(joined(pieces))
      pieces = []
    } else if (part._tag === "RecordEnds") {
      const found = contents
      contents = []
      yield recordOf(part.json, (file, number) => ({ ...file, content: found[number]! })) as unknown as SupportingDocuments
    }
  }
}

/** Awaits the promise of `take` before it reads on. */
export const handedTo = (take: FileTaker) =>
  async function*(parts: Parts): AsyncGenerator<DocumentsRecord, void, undefined> {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      const part = next.value
      if (part._tag === "FileBegins") await handOver(arriving(part.head), parts, take)
      else if (part._tag === "RecordEnds") {
        yield recordOf(part.json, ({ content: _, ...file }) => file) as unknown as DocumentsRecord
      }
    }
  }

const handOver = async (file: ArrivingFile, parts: Parts, take: FileTaker): Promise<void> => {
  let ended = false
  let wanted = true
  let pulled: Promise<void> = Promise.resolve()
  let controller: ReadableStreamDefaultController<Bytes> | undefined
  const next = async (): Promise<Bytes | undefined> => {
    const part = await parts.next()
    if (part.done !== true && part.value._tag === "FileBytes") return part.value.bytes
    ended = true
    return undefined
  }
  const pull = async (): Promise<void> => {
    const bytes = await next()
    if (!wanted) return
    if (bytes === undefined) controller!.close()
    else controller!.enqueue(bytes)
  }
  const content = new ReadableStream<Bytes>({
    start: (given) => void (controller = given),
    pull: () => pulled = pull(),
    cancel: () => void (wanted = false)
  }, { highWaterMark: 0 })
  await take(file, content)
  // One more chunk may have been requested and not awaited.
  await pulled
  if (ended) return
  controller!.error(new TypeError("The content of a file can be read only until the promise of its function settles."))
  while (!ended) await next()
}

const arriving = (head: FileHead): ArrivingFile => {
  for (const [name, value] of Object.entries(head)) {
    if (value === undefined) throw new DocumentsMalformed("", `has a content before its ${name}.`)
  }
  return head as ArrivingFile
}

const { object } = checksOf(DocumentsMalformed)

/** Maps every file of a record; its content is the file's number there. */
const recordOf = (json: unknown, fileOf: (file: JsonObject, number: number) => JsonObject): JsonObject => {
  const record = object("", json)
  let files = 0
  return {
    ...record,
    documents: listAt("/documents", record["documents"]).map((each, place) => {
      const document = object(`/documents/${place}`, each)
      const pointer = `/documents/${place}/files`
      return {
        ...document,
        files: listAt(pointer, document["files"]).map((given, at) => {
          const file = object(`${pointer}/${at}`, given)
          if (file["content"] !== String(files)) throw new DocumentsMalformed(`${pointer}/${at}`, "has no content, or it is not text.")
          return fileOf(file, files++)
        })
      }
    })
  }
}

const listAt = (pointer: string, value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value
  throw new DocumentsMalformed(pointer, "is not a list.")
}
