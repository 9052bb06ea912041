/** Accepted file formats, detected by their first bytes. File names and media types are not trusted. */

/** Largest file in decoded bytes. SPEC-GAP-B12 */
export const maxFileBytes = 25 * 1024 * 1024

/** Most files of one upload. SPEC-GAP-B12 */
export const maxFilesPerUpload = 100

/** A format of files that is accepted. */
export interface FileFormat {
  readonly name: "PDF" | "TIF" | "JPEG" | "PNG"
  readonly mediaType: string
  /** Possible first bytes of such a file. */
  readonly magic: ReadonlyArray<ReadonlyArray<number>>
}

/** The formats that area B accepts. SPEC-GAP-B12 */
export const fileFormats: ReadonlyArray<FileFormat> = [
  { name: "PDF", mediaType: "application/pdf", magic: [[0x25, 0x50, 0x44, 0x46, 0x2d]] },
  { name: "TIF", mediaType: "image/tiff", magic: [[0x49, 0x49, 0x2a, 0x00], [0x4d, 0x4d, 0x00, 0x2a]] },
  { name: "JPEG", mediaType: "image/jpeg", magic: [[0xff, 0xd8, 0xff]] },
  { name: "PNG", mediaType: "image/png", magic: [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]] }
]

/** Detects the format from the first bytes; `undefined` for an unknown format, `"undecided"` when more bytes are needed. */
export const formatOf = (head: Uint8Array): FileFormat | "undecided" | undefined => {
  const agrees = (magic: ReadonlyArray<number>): boolean => magic.every((byte, at) => at >= head.length || head[at] === byte)
  for (const format of fileFormats) {
    for (const magic of format.magic) {
      if (agrees(magic)) return head.length >= magic.length ? format : "undecided"
    }
  }
  return undefined
}
