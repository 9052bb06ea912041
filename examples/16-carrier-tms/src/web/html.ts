/** HTML in templates. Every value is escaped, unless it is HTML itself. */

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = Html | string | number | undefined | false | ReadonlyArray<Html>

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

const textOf = (value: Value): string => {
  if (value instanceof Html) return value.text
  if (value === undefined || value === false) return ""
  if (typeof value === "object") return value.map(({ text }) => text).join("")
  return String(value).replaceAll(/[&<>"']/g, (character) => escapes[character]!)
}

export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html =>
  new Html(strings.reduce((text, string, at) => text + textOf(values[at - 1]) + string))
