/** The commands of Redis that `SeenInRedis` sends, with the reply and the expiry of a real server. */

interface Entry {
  readonly value: string
  readonly until: number
}

export class RedisFake {
  readonly #entries = new Map<string, Entry>()
  #now = 0

  advance(millis: number): void {
    this.#now += millis
  }

  keys(): ReadonlyArray<string> {
    return [...this.#entries.keys()].filter((key) => this.#get(key) !== undefined)
  }

  /** A client with the interface of `redis`. */
  nodeRedis() {
    return { sendCommand: async (args: Array<string>) => this.#later(args) }
  }

  /** A client with the interface of `ioredis`. */
  ioredis() {
    return { call: async (command: string, ...args: Array<string>) => this.#later([command, ...args]) }
  }

  /** A reply arrives in a later turn of the event loop, and commands of all clients run one after the other. */
  async #later(args: ReadonlyArray<string>): Promise<unknown> {
    await new Promise((resolve) => setImmediate(resolve))
    for (const arg of args) if (typeof arg !== "string") throw new TypeError("ERR Protocol error: expected a string")
    const [name, ...rest] = args
    switch (name) {
      case "GET":
        return this.#get(one(rest))?.value ?? null
      case "SET":
        return this.#set(rest)
      case "EVAL":
        return this.#eval(rest)
    }
    throw new Error(`ERR unknown command '${name}'`)
  }

  #get(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.until > this.#now) return entry
    this.#entries.delete(key)
    return undefined
  }

  #set([key, value, ...options]: ReadonlyArray<string>): "OK" | null {
    if (key === undefined || value === undefined) throw new Error("ERR wrong number of arguments for 'set' command")
    const isNew = options[0] === "NX"
    const [unit, amount, ...others] = isNew ? options.slice(1) : options
    if (unit !== "PX" || others.length > 0) throw new Error("ERR syntax error")
    if (!/^[1-9]\d*$/.test(amount ?? "")) throw new Error("ERR invalid expire time in 'set' command")
    if (isNew && this.#get(key) !== undefined) return null
    this.#entries.set(key, { value, until: this.#now + Number(amount) })
    return "OK"
  }

  /** Only the script that deletes a key if it has the given value. */
  #eval([script, keys, key, value, ...others]: ReadonlyArray<string>): number {
    const expected = /^if redis\.call\('GET', KEYS\[1\]\) == ARGV\[1\] then return redis\.call\('DEL', KEYS\[1\]\) end return 0$/
    if (!expected.test(script ?? "") || keys !== "1" || key === undefined || value === undefined || others.length > 0) throw new Error("ERR Error compiling script")
    if (this.#get(key)?.value !== value) return 0
    this.#entries.delete(key)
    return 1
  }
}

const one = (args: ReadonlyArray<string>): string => {
  if (args.length !== 1) throw new Error("ERR wrong number of arguments")
  return args[0]!
}
