/** Escapes external text, so that it cannot move the cursor or colour the terminal. */
export const printable = (text: string): string =>
  text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** The same on one line. */
export const printableLine = (text: string): string => printable(text.replaceAll("\n", "\\n"))
