/**
 * Walks the bytes of a JSON body before anything is made of them: how deep it nests, how many values and members it has, how long its
 * lists are. A body of a few megabytes can hold a million values, which take seconds to decode and a hundred times its size in memory.
 *
 * It does not tell whether the body is JSON, `JSON.parse` does; of what is JSON it counts everything, of what is not at least as much
 * as stands before the place where it breaks.
 */
import type { ListLimits } from "@waybill/core"

export interface ScanLimits {
  readonly maxDepth: number
  /** Objects, lists, texts, numbers and words together. */
  readonly maxValues: number
  /** Of one object. */
  readonly maxMembers: number
  /** Limits of lists. */
  readonly lists: ListLimits
  /** Tells where each item of a list stands: of the list at the top, or the one in this member of the object at the top. */
  readonly itemsIn?: string
  /** Most bytes of one such item. */
  readonly maxItemBytes?: number
}

export interface Exceeded {
  readonly _tag: "Exceeded"
  readonly what: "depth" | "values" | "members" | "items" | "itemBytes"
  readonly limit: number
  /** Of the list, object or item that goes beyond. */
  readonly path: ReadonlyArray<string | number>
  /** What the schema says of a list that is too long. */
  readonly message?: string
}

/** Offsets into the body, its end excluded. */
export interface ItemRange {
  readonly from: number
  readonly to: number
}

/** An object or a list that is open. */
interface Frame {
  isObject: boolean
  lists: ListLimits | undefined
  hasRanges: boolean
  /** Items begun, or members named. */
  count: number
  /** Of an object: whether the next text is a name. */
  namesNext: boolean
  /** Where the name of the member that is read stands, with its quotes. */
  nameFrom: number
  nameTo: number
  /** Where the item that is read begins, in a list with ranges. */
  itemFrom: number
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]

/** A name that is written longer than this is no member of any schema, however it is escaped. */
const longestName = 600

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

export class JsonScan {
  readonly ranges: Array<ItemRange> = []
  /** Objects, lists, texts, numbers and words so far. */
  values = 0
  /** How deep it went so far. */
  deepest = 0

  private readonly bytes: Uint8Array
  private readonly limits: ScanLimits
  /** As many as were ever open at once: a body of empty objects must not make a frame for each. */
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

  /** Walks about `length` bytes further. `undefined` while there is more and no limit is exceeded. */
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

  /** A number, `true`, `false`, `null`, or what is none of these. */
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

  /** A value begins here. */
  private begin(frame: Frame | undefined): void {
    this.values += 1
    if (this.values > this.limits.maxValues) return this.exceed("values", this.limits.maxValues, [])
    if (frame === undefined || frame.isObject) return
    frame.count += 1
    // what follows without a comma is part of the same item, which then is no JSON
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
    const lists = frame === undefined ? this.limits.lists : frame.isObject ? this.memberShape(frame) : frame.lists?.items
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

  private memberShape(frame: Frame): ListLimits | undefined {
    const members = frame.lists?.members
    return members === undefined ? undefined : members.get(this.nameOf(frame) ?? "")
  }

  /** `undefined` where there is none that a schema could know. */
  private nameOf({ nameFrom, nameTo }: Frame): string | undefined {
    const length = nameTo - nameFrom
    if (length < 2 || length > longestName) return undefined
    try {
      return JSON.parse(decoder.decode(this.bytes.subarray(nameFrom, nameTo)))
    } catch {
      return undefined
    }
  }

  /** The member or item before this place is over. */
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
    // items stand in the list at the top, or in a member of the object at the top
    const place = this.depth > 0 && this.frames[0]!.hasRanges ? 0 : 1
    const frame = place < this.depth && this.frames[place]!.hasRanges ? this.frames[place] : undefined
    if (frame === undefined || frame.itemFrom < 0 || this.at - frame.itemFrom <= maxItemBytes) return
    this.exceed("itemBytes", maxItemBytes, [...this.pathOf(place), frame.count - 1])
  }

  /** Where the frame with this number stands. */
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
