/** What an e-mail says. */
export interface MailText {
  readonly subject: string
  /** Plain text. */
  readonly text: string
}

/** An e-mail of plain text. */
export interface Mail extends MailText {
  /** The same for every attempt, so that a mail server recognizes a repeated mail. Letters, digits, dots and hyphens. */
  readonly id: string
  readonly to: string
}

/** One plain address: neither a second header nor a second recipient. */
export const mailAddress = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+$/u

/** Most characters of an e-mail address (RFC 5321). */
export const longestMailAddress = 254

/** Whether the text is exactly one e-mail address. */
export const isMailAddress = (text: string): boolean => text.length <= longestMailAddress && mailAddress.test(text)
