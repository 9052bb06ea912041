/** An in-memory S3 with the methods that the adapter uses. */
import { createHash, randomUUID } from "node:crypto"
import type { S3Calls } from "../../src/s3.ts"

interface Upload {
  readonly key: string
  readonly initiated: Date
  readonly parts: Map<number, Uint8Array>
}

export class S3Error extends Error {
  readonly status: number

  constructor(name: string, status: number) {
    super(name)
    this.name = name
    this.status = status
  }
}

const smallestPart = 5 * 1024 * 1024

const etagOf = (bytes: Uint8Array): string => `"${createHash("md5").update(bytes).digest("hex")}"`

/** One bucket. Throws S3's errors for missing, incomplete or too small objects. */
export class S3Double implements S3Calls {
  readonly objects = new Map<string, Uint8Array>()
  readonly uploads = new Map<string, Upload>()
  largestPart = 0

  private uploadOf(id: string, key: string): Upload {
    const upload = this.uploads.get(id)
    if (upload?.key !== key) throw new S3Error("NoSuchUpload", 404)
    return upload
  }

  async createMultipartUpload({ Key }: Parameters<S3Calls["createMultipartUpload"]>[0]) {
    const UploadId = randomUUID()
    this.uploads.set(UploadId, { key: Key, initiated: new Date(), parts: new Map() })
    return { UploadId }
  }

  async uploadPart({ Body, Key, PartNumber, UploadId }: Parameters<S3Calls["uploadPart"]>[0]) {
    this.largestPart = Math.max(this.largestPart, Body.length)
    const bytes = Uint8Array.from(Body)
    this.uploadOf(UploadId, Key).parts.set(PartNumber, bytes)
    return { ETag: etagOf(bytes) }
  }

  async completeMultipartUpload({ Key, MultipartUpload, UploadId }: Parameters<S3Calls["completeMultipartUpload"]>[0]) {
    const { parts } = this.uploadOf(UploadId, Key)
    const listed = MultipartUpload.Parts.map(({ ETag, PartNumber }, at) => {
      const part = parts.get(PartNumber)
      if (part === undefined || PartNumber !== at + 1 || etagOf(part) !== ETag) throw new S3Error("InvalidPart", 400)
      if (part.length < smallestPart && at < MultipartUpload.Parts.length - 1) throw new S3Error("EntityTooSmall", 400)
      return part
    })
    if (listed.length === 0) throw new S3Error("MalformedXML", 400)
    this.objects.set(Key, new Uint8Array(Buffer.concat(listed)))
    this.uploads.delete(UploadId)
  }

  async abortMultipartUpload({ Key, UploadId }: Parameters<S3Calls["abortMultipartUpload"]>[0]) {
    this.uploadOf(UploadId, Key)
    this.uploads.delete(UploadId)
  }

  /** Two per page, to test pagination. */
  async listMultipartUploads({ KeyMarker = "", Prefix, UploadIdMarker = "" }: Parameters<S3Calls["listMultipartUploads"]>[0]) {
    const placeOf = (key: string, id: string) => `${key} ${id}`
    const all = [...this.uploads].filter(([id, { key }]) => key.startsWith(Prefix) && placeOf(key, id) > placeOf(KeyMarker, UploadIdMarker))
      .sort(([a, one], [b, other]) => placeOf(one.key, a) < placeOf(other.key, b) ? -1 : 1)
    const page = all.slice(0, 2)
    const last = page.at(-1)
    return {
      Uploads: page.map(([UploadId, { initiated, key }]) => ({ Key: key, UploadId, Initiated: initiated })),
      IsTruncated: all.length > page.length,
      ...(last === undefined ? {} : { NextKeyMarker: last[1].key, NextUploadIdMarker: last[0] })
    }
  }

  async getObject({ Key, Range }: Parameters<S3Calls["getObject"]>[0]) {
    const found = this.objects.get(Key)
    if (found === undefined) throw new S3Error("NoSuchKey", 404)
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(Range)!
    if (Number(from) >= found.length) throw new S3Error("InvalidRange", 416)
    const bytes = found.slice(Number(from), Number(to) + 1)
    return { Body: { transformToByteArray: async () => bytes } }
  }

  async deleteObject({ Key }: Parameters<S3Calls["deleteObject"]>[0]) {
    this.objects.delete(Key)
  }
}
