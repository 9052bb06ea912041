/** Document contents as files: one folder per tenant, and a separate place for unfinished files. */
import { type ContentWriter, DocumentContents } from "@waybill/core/invoices"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises"
import { join, resolve } from "node:path"
import { attempt, chunkBytes, contentNotThere, externalDocumentContents, isContentId } from "./ExternalDocumentContents.ts"

/** Where files of documents are. */
export interface DocumentContentsDirectoryOptions {
  /** All processes of the service must share it. It is created if absent, those above it are not: a mount may be missing. */
  readonly directory: string
}

/** Files of documents in a directory. */
export const DocumentContentsDirectory = {
  /** Replaces the storage's `DocumentContents`, and follows the storage's transactions. */
  layer: (options: DocumentContentsDirectoryOptions) => externalDocumentContents(Layer.effect(DocumentContents, make(options)))
}

/** Without `recursive`, which never ends below /proc. */
const ensureDirectory = (path: string): Promise<void> =>
  mkdir(path).catch(async (error: unknown) => {
    if (!(await stat(path).then((file) => file.isDirectory(), () => false))) throw error
  })

/** Creates an empty file. A full disk is no fault here: it still has the documents that were stored before. */
const checkWritable = async (root: string): Promise<void> => {
  const path = join(root, `.writable-${randomUUID()}`)
  try {
    await (await open(path, "wx")).close()
    await unlink(path)
  } catch (error) {
    if (!isFull(error)) throw error
  }
}

const isFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "")

const make = Effect.fnUntraced(function*({ directory }: DocumentContentsDirectoryOptions) {
  const root = resolve(directory)
  yield* attempt("layer", async () => {
    await ensureDirectory(root)
    await checkWritable(root)
  })

  const folderOf = (tenantId: string) => join(root, folderName(tenantId))
  const incomingOf = (tenantId: string) => join(folderOf(tenantId), "incoming")
  const incoming = (tenantId: string, contentId: string) => join(incomingOf(tenantId), contentId)
  // Two levels, because file systems are slow with a million entries in one folder.
  const shelfOf = (tenantId: string, contentId: string) => join(folderOf(tenantId), contentId.slice(0, 2))
  const kept = (tenantId: string, contentId: string) => join(shelfOf(tenantId, contentId), contentId)

  const openFile = Effect.fnUntraced(function*(tenantId: string) {
    const contentId = randomUUID()
    const path = incoming(tenantId, contentId)
    const file = yield* Effect.acquireRelease(
      attempt("open", async () => {
        await ensureDirectory(folderOf(tenantId))
        await ensureDirectory(incomingOf(tenantId))
        return open(path, "wx")
      }),
      // A kept file has moved, so there is nothing to delete.
      (file) => Effect.ignore(Effect.andThen(attempt("close", () => file.close()), attempt("close", () => absentIsFine(unlink(path)))))
    )
    return {
      contentId,
      write: (chunk) => attempt("write", () => writeAll(file, chunk)),
      finish: attempt("finish", () => file.sync())
    } satisfies ContentWriter
  })

  const keep = async (tenantId: string, contentId: string): Promise<void> => {
    const shelf = shelfOf(tenantId, contentId)
    await ensureDirectory(shelf)
    await absentIsFine(rename(incoming(tenantId, contentId), kept(tenantId, contentId)))
    // The file was kept before, or swept: then `keep` must not report success.
    await stat(kept(tenantId, contentId))
    await syncFolder(shelf)
  }

  const sweep = async (tenantId: string, writtenBefore: number): Promise<number> => {
    let swept = 0
    for (const name of await absentIsFine(readdir(incomingOf(tenantId))) ?? []) {
      const path = join(incomingOf(tenantId), name)
      const written = (await absentIsFine(stat(path)))?.mtimeMs
      if (written === undefined || written >= writtenBefore) continue
      await absentIsFine(unlink(path))
      swept += 1
    }
    return swept
  }

  return DocumentContents.of({
    open: openFile,
    keep: (tenantId, contentIds) =>
      Effect.forEach(contentIds, (contentId) => isContentId(contentId) ? attempt("keep", () => keep(tenantId, contentId)) : contentNotThere(contentId), { discard: true }),
    read: (tenantId, contentId, chunk) =>
      isContentId(contentId) ? attempt("read", () => readChunk(kept(tenantId, contentId), chunk)) : Effect.undefined,
    remove: (tenantId, contentIds) =>
      Effect.forEach(contentIds.filter(isContentId), (contentId) => attempt("remove", () => absentIsFine(unlink(kept(tenantId, contentId)))), { discard: true }),
    sweep: (tenantId, writtenBefore) => attempt("sweep", () => sweep(tenantId, writtenBefore))
  })
})

/** A unique name per tenant, also on file systems without case or special characters. */
const folderName = (tenantId: string): string =>
  [...Buffer.from(tenantId)].map((byte) => /[a-z0-9_-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`).join("")

const absentIsFine = async <A>(call: Promise<A>): Promise<A | undefined> =>
  call.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })

const writeAll = async (file: FileHandle, chunk: Uint8Array): Promise<void> => {
  for (let from = 0; from < chunk.length;) from += (await file.write(chunk, from)).bytesWritten
}

const readChunk = async (path: string, chunk: number): Promise<Uint8Array | undefined> => {
  const file = await absentIsFine(open(path))
  if (file === undefined) return undefined
  try {
    const bytes = new Uint8Array(chunkBytes)
    let length = 0
    while (length < chunkBytes) {
      const { bytesRead } = await file.read(bytes, length, chunkBytes - length, chunk * chunkBytes + length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return length === 0 ? undefined : bytes.subarray(0, length)
  } finally {
    await file.close()
  }
}

/** Makes a rename survive a power failure. Windows has no such call. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
