/** Where a partner's files come from and go to. A directory, an SFTP server and the like are adapters of this port. */

export interface EdiTransport {
  /** Names of complete files that wait, oldest first; at most `limit`. */
  readonly waiting: (limit: number) => Promise<ReadonlyArray<string>>
  readonly read: (name: string) => AsyncIterable<Uint8Array>
  /** Moves a file that was read, and stores its report beside it. Does nothing if it is gone. */
  readonly keep: (name: string, outcome: "done" | "failed", report: string) => Promise<void>
  /** Puts a file for the partner. The partner never sees a part of it. */
  readonly send: (name: string, content: Uint8Array) => Promise<void>
  /** Takes this many numbers, in the order of their use. Each is returned once, also to several processes. */
  readonly controlNumbers: (count: number) => Promise<ReadonlyArray<number>>
}
