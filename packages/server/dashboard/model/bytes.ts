/** Formats bytes for display. */

/** `0 bytes`, `1 byte`, `1,234 bytes`. */
export const sizeText = (bytes: number): string => `${bytes.toLocaleString("en-US")} ${bytes === 1 ? "byte" : "bytes"}`

export interface HexRow {
  /** Start of the row, as eight hexadecimal digits. */
  readonly offset: string
  /** Up to sixteen bytes, padded to one width. */
  readonly hex: string
  /** The same bytes as ASCII, with a dot for unprintable ones. */
  readonly ascii: string
}

const width = 16

/** `start`: where the bytes begin in the whole. */
export const hexRows = (bytes: Uint8Array, start = 0): ReadonlyArray<HexRow> =>
  Array.from({ length: Math.ceil(bytes.length / width) }, (_, row) => {
    const slice = bytes.subarray(row * width, (row + 1) * width)
    return {
      offset: (start + row * width).toString(16).padStart(8, "0"),
      hex: Array.from(slice, hexOf).join(" ").padEnd(width * 3 - 1),
      ascii: Array.from(slice, (byte) => byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : ".").join("")
    }
  })

export const hexText = (bytes: Uint8Array): string => Array.from(bytes, hexOf).join("")

const hexOf = (byte: number): string => byte.toString(16).padStart(2, "0")

/** A file name must not be controlled by data: keeps letters, digits and hyphens only. */
export const fileNameOf = (kind: string, id: string): string => `${kind}-${id.replace(/[^A-Za-z0-9-]/g, "").slice(0, 64)}.json`
