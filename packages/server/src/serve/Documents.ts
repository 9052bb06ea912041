/** Storage of document contents: database, directory or S3. */
import type { DocumentContents, Transaction } from "@waybill/core"
import { DocumentContentsDirectory } from "@waybill/http"
import { Effect, Layer, Schema } from "effect"
import { constants } from "node:fs"
import { access, mkdir } from "node:fs/promises"
import type { ServerConfig } from "../config/ServerConfig.ts"

export class DocumentsUnusable extends Schema.TaggedError<DocumentsUnusable>()("DocumentsUnusable", { detail: Schema.String }) {
  override get message(): string {
    return this.detail
  }
}

/** Replaces the storage in the database, if configured. */
export const documentsLayer = ({ documents, s3Endpoint }: Pick<ServerConfig, "documents" | "s3Endpoint">): DocumentsLayer => {
  switch (documents.kind) {
    case "postgres":
      return Layer.empty
    case "directory":
      return inDirectory(documents.path)
    case "s3":
      return inS3(documents, s3Endpoint)
  }
}

type DocumentsLayer = Layer.Layer<never, DocumentsUnusable> | Layer.Layer<DocumentContents | Transaction, DocumentsUnusable, Transaction>

const sentence = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "")

const inDirectory = (path: string) => {
  const unusable = (cause: unknown) =>
    new DocumentsUnusable({
      detail: `Documents cannot be kept in ${path}: ${sentence(cause)}. Point WAYBILL_DOCUMENTS at a directory that this user may write to.`
    })
  const made = Effect.tryPromise({
    try: async () => {
      await mkdir(path, { recursive: true, mode: 0o700 })
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    },
    catch: unusable
  })
  return Layer.effectContext(Effect.andThen(
    made,
    Effect.mapError(Layer.build(DocumentContentsDirectory.layer({ directory: path })), ({ cause }) => unusable(cause))
  ))
}

const inS3 = ({ bucket, prefix }: { readonly bucket: string; readonly prefix: string }, endpoint: string | undefined) =>
  Layer.unwrap(Effect.gen(function*() {
    // Loaded only here, because the S3 client is an optional dependency and slow to load.
    const [{ S3 }, { DocumentContentsS3 }] = yield* Effect.tryPromise({
      try: () => Promise.all([import("@aws-sdk/client-s3"), import("@waybill/http/s3")]),
      catch: (cause) => new DocumentsUnusable({ detail: `Documents cannot be kept in s3://${bucket}: ${sentence(cause)}. Install @aws-sdk/client-s3 beside waybill.` })
    })
    const client = yield* Effect.acquireRelease(Effect.sync(() => new S3(s3Settings(endpoint))), (client) => Effect.sync(() => client.destroy()))
    // Fail at startup, not at the first upload.
    yield* Effect.tryPromise({
      try: () => client.config.region(),
      catch: (cause) =>
        new DocumentsUnusable({ detail: `Documents cannot be kept in s3://${bucket}: ${sentence(cause)}. Set AWS_REGION; other stores than Amazon's take any, such as us-east-1.` })
    })
    return DocumentContentsS3.layer({ client, bucket, prefix })
  }))

/** The S3 client finds region and credentials itself. */
const s3Settings = (endpoint: string | undefined) =>
  endpoint === undefined
    ? {}
    // Some stores do not support Amazon's newer checksums.
    : { endpoint, forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED", responseChecksumValidation: "WHEN_REQUIRED" } as const
