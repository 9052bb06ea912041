/** A growing buffer of bytes. */
export class ByteBuffer {
  private room = new Uint8Array(1024)
  length = 0

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
