/** Our end: where files wait on their way to and from the partner's mailbox. The directory is its adapter. */

export interface EdiSpool {
  /** Puts a file that came from the partner; it is complete or not there. Fails without a trace if `chunks` does. */
  readonly arrive: (name: string, chunks: AsyncIterable<Uint8Array>) => Promise<void>
  /** Names of files for the partner, oldest first; at most `limit`. */
  readonly outgoing: (limit: number) => Promise<ReadonlyArray<string>>
  /** False if another process sends this file, or has sent it. */
  readonly claim: (name: string) => Promise<boolean>
  /** Of a claimed file. */
  readonly readClaimed: (name: string) => AsyncIterable<Uint8Array>
  /** The partner has the claimed file. */
  readonly sent: (name: string) => Promise<void>
  /** The claimed file was not sent, and waits again. */
  readonly release: (name: string) => Promise<void>
}
