/** Reads what others send. */

/** The bytes, or `undefined` if they are more than `most`. Never holds more than that and one chunk. */
export const bytesUpTo = async (most: number, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer | undefined> => {
  const held: Array<Uint8Array> = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > most) return undefined
    held.push(chunk)
  }
  return Buffer.concat(held)
}
