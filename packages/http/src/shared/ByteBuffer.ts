/** A growing buffer of bytes. */
export class ByteBuffer {
  private room: Uint8Array
  length = 0

  /** Allocates the expected number of bytes, and grows for more. */
  constructor(expected = 1024) {
    this.room = new Uint8Array(expected)
  }

  append(from: Uint8Array, start: number, end: number): void {
    const length = this.length + end - start
    if (length > this.room.length) {
      const larger = new Uint8Array(Math.max(length, this.room.length * 2))
      larger.set(this.room.subarray(0, this.length))
      this.room = larger
    }
    this.room.set(from.subarray(start, end), this.length)
    this.length = length
  }

  /** From a position to the end; valid until the next append. */
  bytes(from: number): Uint8Array {
    return this.room.subarray(from, this.length)
  }
}
