/** Adds line breaks and indents to JSON and changes nothing else: a parser would lose digits and duplicate names. */

/** `undefined` for invalid JSON. */
export const indentJson = (text: string): string | undefined => {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  // These are all tokens of valid JSON.
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs) ?? []
  let depth = 0
  const line = () => `\n${"  ".repeat(depth)}`
  return tokens.map((token, n) => {
    switch (token) {
      case "{":
      case "[":
        depth += 1
        return tokens[n + 1] === closing[token] ? token : token + line()
      case "}":
      case "]":
        depth -= 1
        return tokens[n - 1] === opening[token] ? token : line() + token
      case ",":
        return token + line()
      case ":":
        return ": "
      default:
        return token
    }
  }).join("")
}

const closing = { "{": "}", "[": "]" }
const opening = { "}": "{", "]": "[" }
