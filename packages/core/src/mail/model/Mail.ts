/** An e-mail of plain text. */
export interface Mail {
  /** The same for every attempt, so that a mail server recognizes a repeated mail. Letters, digits, dots and hyphens. */
  readonly id: string
  readonly to: string
  readonly subject: string
  /** Plain text. */
  readonly text: string
}
