/**
 * Scans the bytes of a JSON body before it is parsed: nesting depth, number of values and members, list lengths. A body
 * of a few megabytes can contain a million values, which take seconds to decode and a hundred times its size in memory.
 *
 * It does not validate JSON; `JSON.parse` does. In valid JSON it counts everything, in invalid JSON at least everything
 * before the error.
 */
import type { ListLimits } from "@waybill/core"

export interface ScanLimits {
  readonly maxDepth: number
  /** Objects, lists, strings, numbers and literals together. */
  readonly maxValues: number
  /** Per object. */
  readonly maxMembers: number
  /** Limits of lists. */
  readonly lists: ListLimits
  /** Records the position of each item: of the list at the top level, or of the list in this member of the top-level object. */
  readonly itemsIn?: string
  /** Maximum bytes per item. */
  readonly maxItemBytes?: number
}

export interface Exceeded {
  readonly _tag: "Exceeded"
  readonly what: "depth" | "values" | "members" | "items" | "itemBytes"
  readonly limit: number
  /** Path of the list, object or item that exceeds the limit. */
  readonly path: ReadonlyArray<string | number>
  /** The schema's message for a list that is too long. */
  readonly message?: string
}

/** Byte offsets in the body; `to` is exclusive. */
export interface ItemRange {
  readonly from: number
  readonly to: number
}

/** An object or list that is not closed yet. */
interface Frame {
  isObject: boolean
  lists: ListLimits | undefined
  hasRanges: boolean
  /** Number of started items or named members. */
  count: number
  /** For objects: whether the next string is a member name. */
  namesNext: boolean
  /** Position of the current member's name, quotes included. */
  nameFrom: number
  nameTo: number
  /** Start of the current item, in a list with ranges. */
  itemFrom: number
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Longer than any schema's member names, even if fully escaped. */
const longestName = 600

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

export class JsonScan {
  readonly ranges: Array<ItemRange> = []
  /** Objects, lists, strings, numbers and literals so far. */
  values = 0
  /** Deepest nesting so far. */
  deepest = 0

  private readonly bytes: Uint8Array
  private readonly limits: ScanLimits
  /** Reused frames, as many as the deepest nesting: a body of empty objects must not allocate a frame for each. */
  private readonly frames: Array<Frame> = []
  private depth = 0
  private at = 0
  private reading: "structure" | "text" | "name" | "word" = "structure"
  private isEscaped = false
  private exceeded: Exceeded | undefined

  constructor(bytes: Uint8Array, limits: ScanLimits) {
    this.bytes = bytes
    this.limits = limits
  }

  /** Scans about `length` more bytes. `undefined` while there are more and no limit is exceeded. */
  step(length: number): "done" | Exceeded | undefined {
    const { bytes } = this
    const end = Math.min(bytes.length, this.at + length)
    while (this.exceeded === undefined && this.at < end) {
      if (this.reading === "structure") this.structure(end)
      else if (this.reading === "word") this.word(end)
      else this.text(end)
    }
    if (this.exceeded === undefined) this.judgeItem()
    return this.exceeded ?? (this.at === bytes.length ? "done" : undefined)
  }

  private get innermost(): Frame | undefined {
    return this.depth === 0 ? undefined : this.frames[this.depth - 1]
  }

  private structure(end: number): void {
    const { bytes } = this
    for (; this.at < end; this.at++) {
      const byte = bytes[this.at]!
      if (isBlank(byte)) continue
      const frame = this.innermost
      switch (byte) {
        case comma:
          if (frame !== undefined) this.ended(frame)
          break
        case colon:
          if (frame !== undefined) frame.namesNext = false
          break
        case closeObject:
        case closeList:
          if (frame !== undefined) this.ended(frame)
          if (this.depth > 0) this.depth -= 1
          break
        case quote:
          this.isEscaped = false
          if (frame?.namesNext === true) this.beginName(frame)
          else {
            this.reading = "text"
            this.begin(frame)
          }
          this.at += 1
          return
        case openObject:
        case openList:
          this.begin(frame)
          this.open(frame, byte === openObject)
          if (this.exceeded !== undefined) return
          break
        default:
          this.reading = "word"
          this.begin(frame)
          return
      }
    }
  }

  /** A number, `true`, `false`, `null`, or invalid text. */
  private word(end: number): void {
    const { bytes } = this
    for (; this.at < end; this.at++) {
      const byte = bytes[this.at]!
      if (isBlank(byte) || byte === comma || byte === colon || byte === closeObject || byte === closeList || byte === quote || byte === openObject || byte === openList) {
        this.reading = "structure"
        return
      }
    }
  }

  private text(end: number): void {
    const { bytes } = this
    let { at } = this
    if (this.isEscaped && at < end) {
      at += 1
      this.isEscaped = false
    }
    while (at < end) {
      const byte = bytes[at++]
      if (byte === backslash) {
        if (at === end) this.isEscaped = true
        at += 1
      } else if (byte === quote) {
        if (this.reading === "name") this.innermost!.nameTo = at
        this.reading = "structure"
        break
      }
    }
    this.at = Math.min(at, end)
  }

  private beginName(frame: Frame): void {
    this.reading = "name"
    frame.nameFrom = this.at
    frame.nameTo = this.at
    frame.count += 1
    if (frame.count > this.limits.maxMembers) this.exceed("members", this.limits.maxMembers, this.pathOf(this.depth - 1))
  }

  /** A value begins at the current position. */
  private begin(frame: Frame | undefined): void {
    this.values += 1
    if (this.values > this.limits.maxValues) return this.exceed("values", this.limits.maxValues, [])
    if (frame === undefined || frame.isObject) return
    frame.count += 1
    // Text without a comma before it belongs to the same item, which then is invalid JSON.
    if (frame.itemFrom < 0) frame.itemFrom = this.at
    const most = frame.lists?.maxItems
    if (most === undefined || frame.count <= most) return
    const { message } = frame.lists!
    this.exceed("items", most, this.pathOf(this.depth - 1), message)
  }

  private open(frame: Frame | undefined, isObject: boolean): void {
    const depth = this.depth + 1
    if (depth > this.limits.maxDepth) return this.exceed("depth", this.limits.maxDepth, [])
    this.deepest = Math.max(this.deepest, depth)
    const lists = frame === undefined ? this.limits.lists : frame.isObject ? frame.lists?.members?.get(this.nameOf(frame) ?? "") : frame.lists?.items
    const hasRanges = !isObject && this.holdsItems(frame, depth)
    const opened = this.frames[this.depth] ??= emptyFrame()
    opened.isObject = isObject
    opened.lists = lists
    opened.hasRanges = hasRanges
    opened.count = 0
    opened.namesNext = isObject
    opened.nameFrom = 0
    opened.nameTo = 0
    opened.itemFrom = -1
    this.depth = depth
  }

  private holdsItems(frame: Frame | undefined, depth: number): boolean {
    const { itemsIn } = this.limits
    return itemsIn !== undefined && (depth === 1 || (depth === 2 && frame!.isObject && this.nameOf(frame!) === itemsIn))
  }

  /** `undefined` for names that no schema can contain. */
  private nameOf({ nameFrom, nameTo }: Frame): string | undefined {
    const length = nameTo - nameFrom
    if (length < 2 || length > longestName) return undefined
    try {
      return JSON.parse(decoder.decode(this.bytes.subarray(nameFrom, nameTo)))
    } catch {
      return undefined
    }
  }

  /** The member or item before this position ended. */
  private ended(frame: Frame): void {
    if (frame.isObject) {
      frame.namesNext = true
      return
    }
    if (!frame.hasRanges || frame.itemFrom < 0) return
    this.judgeItem()
    this.ranges.push({ from: frame.itemFrom, to: this.at })
    frame.itemFrom = -1
  }

  private judgeItem(): void {
    const { maxItemBytes } = this.limits
    if (maxItemBytes === undefined) return
    // Items are in the list at the top level, or in a member of the top-level object.
    const place = this.depth > 0 && this.frames[0]!.hasRanges ? 0 : 1
    const frame = place < this.depth && this.frames[place]!.hasRanges ? this.frames[place] : undefined
    if (frame === undefined || frame.itemFrom < 0 || this.at - frame.itemFrom <= maxItemBytes) return
    this.exceed("itemBytes", maxItemBytes, [...this.pathOf(place), frame.count - 1])
  }

  /** Path of the frame with this index. */
  private pathOf(number: number): ReadonlyArray<string | number> {
    return this.frames.slice(0, number).map((frame) => frame.isObject ? (this.nameOf(frame) ?? "…") : frame.count - 1)
  }

  private exceed(what: Exceeded["what"], limit: number, path: ReadonlyArray<string | number>, message?: string): void {
    this.exceeded = { _tag: "Exceeded", what, limit, path, ...(message === undefined ? {} : { message }) }
  }
}

const decoder = new TextDecoder()

const emptyFrame = (): Frame => ({
  isObject: false,
  lists: undefined,
  hasRanges: false,
  count: 0,
  namesNext: false,
  nameFrom: 0,
  nameTo: 0,
  itemFrom: -1
})
