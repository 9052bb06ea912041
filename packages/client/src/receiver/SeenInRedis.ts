/** Handled ids in Redis. */
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import { seenKeyOf } from "./SeenKey.ts"
import { type Claim, type ClaimAnswer, keepSecondsOf, retentionKinds, type SeenRetention, type SeenStore } from "./SeenStore.ts"

/** A client of `ioredis` (`call`) or of `redis` (`sendCommand`), or a function that sends a command with another library. */
export type RedisClient =
  | { call(command: string, ...args: Array<string>): Promise<unknown> }
  | { sendCommand(args: Array<string>): Promise<unknown> }

/** Where handled ids are kept in Redis, and for how long. */
export interface SeenInRedisOptions extends SeenRetention {
  /** Prefix of the keys. Default `waybill:seen:`. */
  readonly prefix?: string | undefined
}

const kinds: OptionKinds<SeenInRedisOptions> = { ...retentionKinds, prefix: optionKinds.text }

/** The value of a handled id. */
const seen = "seen"
const claimOf = (token: string): string => `claim:${token}`

/** Deletes a key only while this claim holds it. */
const releaseScript = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

/**
 * Keeps ids in Redis, one key each. A crash between the handler's success and the mark makes the delivery arrive again.
 * A Redis that loses or evicts keys does the same: use `appendonly yes` and `maxmemory-policy noeviction`.
 */
export class SeenInRedis implements SeenStore {
  readonly #client: RedisClient
  readonly #prefix: string
  readonly #keepMillis: number

  constructor(client: RedisClient, options: SeenInRedisOptions = {}) {
    checkOptions("SeenInRedis", options, kinds)
    this.#client = client
    this.#prefix = options.prefix ?? "waybill:seen:"
    this.#keepMillis = Math.ceil(keepSecondsOf(options) * 1000)
  }

  claim(ids: ReadonlyArray<string>, { seconds, token }: Claim): Promise<ReadonlyArray<ClaimAnswer>> {
    const millis = String(Math.ceil(seconds * 1000))
    return this.#each(ids, async (key): Promise<ClaimAnswer> => {
      if (await this.#send("SET", key, claimOf(token), "NX", "PX", millis) !== null) return "claimed"
      const held = await this.#send("GET", key)
      // Its own claim, if the client sent SET again after a lost connection.
      return held === seen ? "seen" : held === claimOf(token) ? "claimed" : "busy"
    })
  }

  async markSeen(ids: ReadonlyArray<string>, _claim: Claim): Promise<void> {
    await this.#each(ids, (key) => this.#send("SET", key, seen, "PX", String(this.#keepMillis)))
  }

  async release(ids: ReadonlyArray<string>, { token }: Claim): Promise<void> {
    await this.#each(ids, (key) => this.#send("EVAL", releaseScript, "1", key, claimOf(token)))
  }

  /** One command per key, which also suits a cluster. Clients send the commands of one turn together. */
  #each<Result>(ids: ReadonlyArray<string>, command: (key: string) => Promise<Result>): Promise<ReadonlyArray<Result>> {
    return Promise.all(ids.map(async (id) => command(this.#prefix + await seenKeyOf(id))))
  }

  #send(command: string, ...args: Array<string>): Promise<unknown> {
    return "call" in this.#client ? this.#client.call(command, ...args) : this.#client.sendCommand([command, ...args])
  }
}
