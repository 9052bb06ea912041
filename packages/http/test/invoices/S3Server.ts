/** The S3 double over HTTP, for `@aws-sdk/client-s3` with path-style addresses. */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import type { S3Calls } from "../../src/s3.ts"
import { S3Error } from "./S3Double.ts"

interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

const xml = (name: string, content: string): Reply => ({
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?><${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${name}>`
})

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  return request.headers["content-encoding"]?.includes("aws-chunked") === true ? unchunked(body) : body
}

/** Decodes `aws-chunked`: the length of a chunk in hexadecimal, its bytes, and checksums after the last, empty one. */
const unchunked = (body: Buffer): Buffer => {
  const chunks: Array<Buffer> = []
  for (let at = 0; at < body.length;) {
    const line = body.indexOf("\r\n", at)
    const length = Number.parseInt(body.subarray(at, line).toString().split(";")[0]!, 16)
    if (length === 0) break
    chunks.push(body.subarray(line + 2, line + 2 + length))
    at = line + 2 + length + 2
  }
  return Buffer.concat(chunks)
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]!.replaceAll("&quot;", "\""))

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;")

const answer = async (s3: S3Calls, request: IncomingMessage): Promise<Reply> => {
  const url = new URL(request.url!, "http://s3.test")
  const [, Bucket = "", ...rest] = url.pathname.split("/")
  const at = { Bucket, Key: decodeURIComponent(rest.join("/")) }
  const query = url.searchParams
  const upload = { ...at, UploadId: query.get("uploadId") ?? "" }
  const body = await bodyOf(request)
  switch (`${request.method} ${query.has("uploads") ? "uploads" : query.has("uploadId") ? "upload" : "object"}`) {
    case "POST uploads":
      return xml("InitiateMultipartUploadResult", `<UploadId>${(await s3.createMultipartUpload(at)).UploadId}</UploadId>`)
    case "PUT upload":
      return { headers: { etag: (await s3.uploadPart({ ...upload, PartNumber: Number(query.get("partNumber")), Body: body })).ETag! } }
    case "POST upload": {
      const [numbers, etags] = [all(body.toString(), /<PartNumber>(\d+)</g), all(body.toString(), /<ETag>([^<]*)</g)]
      await s3.completeMultipartUpload({ ...upload, MultipartUpload: { Parts: numbers.map((number, n) => ({ PartNumber: Number(number), ETag: etags[n] })) } })
      return xml("CompleteMultipartUploadResult", `<Key>${escaped(at.Key)}</Key>`)
    }
    case "DELETE upload":
      await s3.abortMultipartUpload(upload)
      return { status: 204 }
    case "GET uploads": {
      const page = await s3.listMultipartUploads({
        Bucket,
        Prefix: query.get("prefix") ?? "",
        KeyMarker: query.get("key-marker") ?? "",
        UploadIdMarker: query.get("upload-id-marker") ?? ""
      })
      const uploads = (page.Uploads ?? []).map(({ Initiated, Key, UploadId }) =>
        `<Upload><Key>${escaped(Key!)}</Key><UploadId>${UploadId}</UploadId><Initiated>${Initiated!.toISOString()}</Initiated></Upload>`)
      const next = `<NextKeyMarker>${escaped(page.NextKeyMarker ?? "")}</NextKeyMarker><NextUploadIdMarker>${page.NextUploadIdMarker ?? ""}</NextUploadIdMarker>`
      return xml("ListMultipartUploadsResult", `<IsTruncated>${page.IsTruncated}</IsTruncated>${page.IsTruncated === true ? next : ""}${uploads.join("")}`)
    }
    case "GET object": {
      const { Body } = await s3.getObject({ ...at, Range: request.headers.range ?? "" })
      return { status: 206, body: await Body!.transformToByteArray() }
    }
    case "DELETE object":
      await s3.deleteObject(at)
      return { status: 204 }
    default:
      throw new S3Error("NotImplemented", 501)
  }
}

export const startS3 = async (s3: S3Calls): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> => {
  const server = createServer((request, response) => {
    answer(s3, request).catch((error: unknown): Reply => ({
      ...xml("Error", `<Code>${(error as Error).name}</Code><Message>${(error as Error).message}</Message>`),
      status: error instanceof S3Error ? error.status : 500
    })).then(({ body = "", headers = {}, status = 200 }) => response.writeHead(status, headers).end(body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}
