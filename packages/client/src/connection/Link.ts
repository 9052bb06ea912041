/** The `Link` header (RFC 8288), as far as pagination needs it. */

/** The target of the first link whose relation is `next`; `undefined` when there is none. */
export const nextLink = (header: string): string | undefined => {
  let at = 0
  while (true) {
    const open = header.indexOf("<", at)
    const close = header.indexOf(">", open + 1)
    if (open < 0 || close < 0) return undefined
    const { parameters, end } = readParameters(header, close + 1)
    // RFC 8288: only the first rel of a link counts.
    const rel = parameters.find(([name]) => name === "rel")?.[1] ?? ""
    if (rel.toLowerCase().split(/\s+/).includes("next")) return header.slice(open + 1, close)
    at = end
  }
}

/** `;name=value` pairs up to the comma that ends the link. Commas and semicolons inside quotes are text. */
const readParameters = (header: string, start: number) => {
  const parameters: Array<readonly [name: string, value: string]> = []
  let name: string | undefined
  let text = ""
  let quoted = false
  let at = start
  const finish = () => {
    if (name !== undefined) parameters.push([name.trim().toLowerCase(), text.trim()])
    name = undefined
    text = ""
  }
  for (; at < header.length; at++) {
    const character = header[at]!
    if (quoted) {
      if (character === "\"") quoted = false
      else text += character === "\\" ? header[++at] ?? "" : character
    } else if (character === ",") break
    else if (character === ";") finish()
    else if (character === "\"") quoted = true
    else if (character === "=" && name === undefined) {
      name = text
      text = ""
    } else text += character
  }
  finish()
  return { parameters, end: at + 1 }
}
