/** Documents in S3. Requires `@aws-sdk/client-s3`, which is not a dependency of this package. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import type { ExternalDocuments } from "./facade/ExternalDocuments.ts"
import { externalDocuments } from "./facade/ExternalDocuments.ts"
import { DocumentContentsS3, type DocumentContentsS3Options, type S3Calls } from "./invoices/DocumentContentsS3.ts"

export { DocumentContentsS3, type DocumentContentsS3Options, type S3Calls } from "./invoices/DocumentContentsS3.ts"

/** For `createWaybill({ documents: documentsInS3({ client: new S3({ region }), bucket }) })`. */
export const documentsInS3 = (options: DocumentContentsS3Options): ExternalDocuments => {
  checkOptions("documentsInS3", options, kinds)
  if (options.client === undefined || options.bucket === undefined) throw new TypeError("documentsInS3 needs a client and a bucket.")
  return externalDocuments(DocumentContentsS3.layer(options))
}

const kinds: OptionKinds<DocumentContentsS3Options> = {
  // S3Client, which has only send(), would fail at the first upload
  client: { what: "a client with the methods of S3 in @aws-sdk/client-s3, which S3Client lacks", accepts: (value) => typeof (value as Partial<S3Calls> | null)?.createMultipartUpload === "function" },
  bucket: optionKinds.text,
  prefix: { what: "a text", accepts: (value) => typeof value === "string" }
}
