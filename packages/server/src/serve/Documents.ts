/** Storage of document contents: database, directory or S3, or two of them. */
import { Transaction } from "@waybill/core"
import { DocumentContents, inTwoStores } from "@waybill/core/invoices"
import { makeDirectory } from "@waybill/edi/transports"
import { DocumentContentsDirectory } from "@waybill/http"
import type { S3Calls } from "@waybill/http/s3"
import { Context, Effect, Layer, Schema } from "effect"
import { constants } from "node:fs"
import { access } from "node:fs/promises"
import { clauseOf } from "../ErrorMessage.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"
import type { DocumentsPlace } from "../config/Variables.ts"

export class DocumentsUnusable extends Schema.TaggedError<DocumentsUnusable>()("DocumentsUnusable", { message: Schema.String }) {}

type DocumentSettings = Pick<ServerConfig, "documents" | "documentsAlso" | "s3Endpoint">

/** The configured contents, and the transactions that they take part in. */
export const documentsLayer = ({ documents, documentsAlso, s3Endpoint }: DocumentSettings): DocumentsLayer => {
  if (documentsAlso === undefined) return placeLayer(documents, s3Endpoint)
  return Layer.effectContext(Effect.gen(function*() {
    const first = yield* Layer.build(placeLayer(documents, s3Endpoint))
    // its transactions are those of the first, so that both follow one
    const second = yield* Layer.build(Layer.provide(placeLayer(documentsAlso, s3Endpoint), Layer.merge(databaseContents, Layer.succeedContext(Context.pick(Transaction)(first)))))
    return Context.add(second, DocumentContents, inTwoStores(Context.get(first, DocumentContents), Context.get(second, DocumentContents)))
  }))
}

type DocumentsLayer = Layer.Layer<DocumentContents | Transaction, DocumentsUnusable, DocumentContents | Transaction>

/** The contents in the database, which the other stores need. */
const databaseContents = Layer.effect(DocumentContents, DocumentContents)

/** The contents in one store. */
export const placeLayer = (place: DocumentsPlace, s3Endpoint: string | undefined): DocumentsLayer => {
  switch (place.kind) {
    case "postgres":
      return Layer.merge(databaseContents, Layer.effect(Transaction, Transaction))
    case "directory":
      return inDirectory(place.path)
    case "s3":
      return inS3(place, s3Endpoint)
  }
}


const unusable = (place: string, hint: string) => (cause: unknown) => new DocumentsUnusable({ message: `Documents cannot be kept in ${place}: ${clauseOf(cause)}. ${hint}` })

const inDirectory = (path: string) => {
  const unusableHere = unusable(path, "Point WAYBILL_DOCUMENTS at a directory that this user may write to.")
  const made = Effect.tryPromise({
    try: async () => {
      await makeDirectory(path, 0o700)
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    },
    catch: unusableHere
  })
  return Layer.effectContext(Effect.andThen(
    made,
    Effect.mapError(Layer.build(DocumentContentsDirectory.layer({ directory: path })), ({ cause }) => unusableHere(cause))
  ))
}

const inS3 = ({ bucket, prefix }: { readonly bucket: string; readonly prefix: string }, endpoint: string | undefined) =>
  Layer.unwrap(Effect.gen(function*() {
    // Loaded only here, because the S3 client is an optional dependency and slow to load.
    const [{ S3 }, { DocumentContentsS3 }] = yield* Effect.tryPromise({
      try: () => Promise.all([import("@aws-sdk/client-s3"), import("@waybill/http/s3")]),
      catch: unusable(`s3://${bucket}`, "Install @aws-sdk/client-s3 beside waybill.")
    })
    const client = yield* Effect.acquireRelease(Effect.sync(() => new S3(s3Settings(endpoint))), (client) => Effect.sync(() => client.destroy()))
    // Fail at startup, not at the first upload.
    yield* Effect.tryPromise({
      try: () => client.config.region(),
      catch: unusable(`s3://${bucket}`, "Set AWS_REGION; other stores than Amazon's take any, such as us-east-1.")
    })
    yield* checkBucket(client, bucket, prefix)
    return DocumentContentsS3.layer({ client, bucket, prefix })
  }))

/** One call that needs credentials, bucket and permission. A store that does not answer may recover before the first upload. */
const checkBucket = (client: Pick<S3Calls, "listMultipartUploads">, bucket: string, prefix: string): Effect.Effect<void, DocumentsUnusable> =>
  Effect.tryPromise({ try: () => client.listMultipartUploads({ Bucket: bucket, Prefix: prefix }), catch: (cause) => cause }).pipe(
    Effect.timeoutOrElse({ duration: checkMillis, orElse: () => Effect.fail(new Error(`no answer within ${checkMillis / 1000} s`)) }),
    Effect.matchEffect({
      onSuccess: () => Effect.void,
      onFailure: (cause) => {
        const hint = bucketHint(cause)
        return hint === undefined
          ? Effect.logWarning(`Document store did not answer: ${clauseOf(cause)}. Uploads and downloads of documents fail until it does.`)
          : Effect.fail(unusable(`s3://${bucket}`, hint)(cause))
      }
    })
  )

const checkMillis = 10_000

/** The fix for a refusal; `undefined` if the store does not answer or fails, and may recover. */
const bucketHint = (cause: unknown): string | undefined => {
  const { $metadata, name } = (cause ?? {}) as { readonly name?: unknown; readonly $metadata?: { readonly httpStatusCode?: number } }
  if (name === "NoSuchBucket") return "Create the bucket, or correct WAYBILL_DOCUMENTS."
  if (name === "CredentialsProviderError") return "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role."
  const status = $metadata?.httpStatusCode ?? 0
  if (status === 501) return "This store has no multipart uploads, which documents need. Use another one."
  if (status < 400 || status >= 500 || status === 408 || status === 429) return undefined
  return name === "InvalidAccessKeyId" || name === "SignatureDoesNotMatch" || status === 401
    ? "Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
    : "Check the bucket's region, and that these credentials may put, get and delete objects, and list and abort multipart uploads."
}

/** The S3 client finds region and credentials itself. */
const s3Settings = (endpoint: string | undefined) =>
  endpoint === undefined
    ? {}
    // Some stores do not support Amazon's newer checksums.
    : { endpoint, forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED", responseChecksumValidation: "WHEN_REQUIRED" } as const
