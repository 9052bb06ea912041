// Patterns of secrets, and places where one is allowed.

const shapes = [
  ["an API key", /\bwb\.[\w-]{2,90}\.[0-9a-f-]{36}\.[\w-]{43}/g],
  ["a webhook secret", /\bwhsec_[A-Za-z0-9+/_-]{24,}=*/g],
  ["a token", /\beyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]{20,}/g],
  ["a private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]*)/g],
  ["a database password", /(?<=\bpostgres(?:ql)?:\/\/[^\s:/@"']*:)(?!…)[^\s@"'{}$]+(?=@)/g]
]

/** Secrets of published examples, which are public. */
export const publicSamples = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]

/** Commands that print a secret on request. Each of them must occur in the output, or the list is out of date. */
export const disclosures = [
  { why: "the demo's start", command: /main\.(?:ts|mjs)(?: serve)?$/, stream: "stdout", what: "an API key", line: /^ +(?:The customer's API key: |curl -s -H 'X-API-Key: )‹an API key›/ },
  { why: "keys create --show", command: / keys create .*--show/, stream: "stdout", what: "an API key", line: /./ },
  { why: "secrets put --show", command: / secrets put .*--show/, stream: "stdout", what: "a webhook secret", line: /./ },
  { why: "portal link --show", command: / portal link .*--show/, stream: "stdout", what: "a token", line: /./ }
]

/**
 * Every secret in a text, with its line masked.
 * @param {string} text
 * @param {ReadonlySet<string>} values secrets without a recognisable pattern
 */
export function findings(text, values) {
  const written = [...values].flatMap((value) => [...new Set([value, encodeURIComponent(value), Buffer.from(value).toString("base64").replace(/=+$/, "")])])
  const known = written.length === 0 ? undefined : new RegExp(written.map(RegExp.escape).join("|"), "g")
  const looked = known === undefined ? shapes : [["a known secret", known], ...shapes]
  return text.split("\n").flatMap((line, at) =>
    looked.flatMap(([what, pattern]) => {
      const found = line.match(pattern)
      return found === null ? [] : [...new Set(found)].map((secret) => ({ what, secret, line: at + 1, masked: maskedLine(line, looked) }))
    }).slice(0, 1))
}

const maskedLine = (line, looked) => looked.reduce((rest, [what, pattern]) => rest.replaceAll(pattern, `‹${what}›`), line)
