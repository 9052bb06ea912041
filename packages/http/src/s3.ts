/** Documents in S3. Requires `@aws-sdk/client-s3`, which is not a dependency of this package. */
import type { ExternalDocuments } from "./facade/ExternalDocuments.ts"
import { externalDocuments } from "./facade/ExternalDocuments.ts"
import { DocumentContentsS3, type DocumentContentsS3Options } from "./invoices/DocumentContentsS3.ts"

export { DocumentContentsS3, type DocumentContentsS3Options, type S3Calls } from "./invoices/DocumentContentsS3.ts"

/** For `createWaybill({ documents: documentsInS3({ client: new S3({ region }), bucket }) })`. */
export const documentsInS3 = (options: DocumentContentsS3Options): ExternalDocuments => externalDocuments(DocumentContentsS3.layer(options))
