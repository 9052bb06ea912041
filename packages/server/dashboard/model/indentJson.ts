/** JSON with line breaks and indents put in, and nothing else touched: a parser would lose digits and doubled names. */

/** `undefined` for what is no JSON. */
export const indentJson = (text: string): string | undefined => {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  // of valid JSON these are all the tokens there are
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
