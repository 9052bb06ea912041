/** Checks after every attack, and the expected outcome of each hostile behaviour. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { AttemptOutcome } from "@waybill/core/delivery"
import type { HostileBehaviour, HostileBehaviourName } from "@waybill/conformance/hostile"

/** `accepted`, `gone` or `failed`, as in the test kit. */
export const outcomeOf = (outcome: AttemptOutcome): string => outcome._tag.toLowerCase()

export const wanted = (outcome: AttemptOutcome, expected: HostileBehaviour["outcome"]): void => {
  if (expected === "either") assert.include(["accepted", "failed"], outcomeOf(outcome))
  else assert.strictEqual(outcomeOf(outcome), expected)
}

/** Checks that the outcome is short and contains nothing that a terminal, log or database would interpret. */
export const assertInert = (outcome: AttemptOutcome): void => {
  if (outcome._tag === "Interrupted") return
  const detail = outcome._tag === "Failed" ? outcome.detail : ""
  const excerpt = outcome.excerpt ?? ""
  assert.isAtMost(excerpt.length, 1024)
  assert.isAtMost(detail.length, 300)
  for (const text of [excerpt, detail]) assert.notMatch(text, /[\p{C}\p{Zl}\p{Zp}]/u)
  if (outcome._tag === "Failed" && outcome.retryAfterSeconds !== undefined) {
    assert.isTrue(Number.isInteger(outcome.retryAfterSeconds) && outcome.retryAfterSeconds >= 0 && outcome.retryAfterSeconds <= 315_360_000)
  }
}

/** Waits until it holds; the test's own timeout is the limit. */
export const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => holds() ? Effect.void : Effect.flatMap(Effect.yieldNow, () => until(holds)))

const same = <Name extends HostileBehaviourName>(code: string, ...names: ReadonlyArray<Name>) =>
  Object.fromEntries(names.map((name) => [name, code])) as Record<Name, string>

/** Outcome of the first attempt, as by `summary`. `|` separates outcomes that depend on a race. */
export const codes: Readonly<Record<HostileBehaviourName, string>> = {
  ...same("connect_timeout", "never-accepts", "tls-silent", "tls-slow"),
  ...same("timeout", "says-nothing", "reads-nothing", "slow-status-line", "slow-head", "slow-103", "status-late"),
  ...same("timeout 200", "silent-body", "slow-body", "slow-chunks"),
  // the receiver's reset may overtake its alert
  ...same("tls|protocol", "tls-wants-certificate", "tls-renegotiates"),
  ...same("protocol|connect_refused", "resets-on-connect", "closes-on-connect"),
  ...same(
    "protocol", "resets-before-body", "resets-after-request", "closes-after-request", "half-closes", "closes-in-head",
    "http-0.9", "http-2", "ssh-banner", "smtp-banner", "redis-error", "tls-alert", "garbage", "echo",
    "status-0", "status-99", "status-1000", "status-2000", "status-negative", "version-9.9", "version-icy",
    "nul-in-header", "bare-cr-in-header", "space-before-colon", "header-without-colon",
    "length-negative", "length-signed", "length-hex", "length-huge", "length-twice", "length-and-chunked", "chunked-not-last",
    "endless-100", "endless-102", "endless-103", "only-102", "upgrade-websocket", "upgrade-h2c",
    "redirect-terminal"
  ),
  ...same(
    "protocol 200", "resets-in-body", "short-body", "chunk-size-no-number", "chunk-size-huge", "chunk-size-negative", "chunk-longer", "chunks-cut-off"
  ),
  ...same("protocol 600", "status-600"),
  ...same("protocol 999", "status-999"),
  ...same(
    "response_too_large", "endless-blank-lines", "endless-status-line", "endless-head", "endless-header-name", "endless-header-value",
    "huge-status-line", "huge-header", "many-headers"
  ),
  ...same(
    "Accepted 200", "answers-before-request", "accepts-before-body", "header-not-ascii", "http-1.0", "long-body", "endless-trailers",
    "endless-body", "endless-chunks", "endless-chunk", "endless-chunk-extension",
    "gzip-bomb", "double-gzip-bomb", "deflate-bomb", "brotli-bomb", "zstd-bomb", "not-gzip",
    "body-html", "body-terminal", "body-nul", "body-broken-utf-8", "body-directions", "body-log-lines", "body-formula", "body-one-glyph",
    "hints-first", "continue-first", "cookie", "cookie-flood", "alt-svc", "hsts", "link-preload", "refresh", "reporting",
    "keep-alive-0", "keep-alive-forever", "keep-alive-nonsense",
    "second-answer", "second-answer-error", "second-answer-chunked", "second-answer-in-pieces", "second-answer-later", "hundred-answers",
    "interim-behind", "half-answer-behind", "bytes-behind", "closes-and-goes-on", "closes-idle", "resets-idle", "resets-reused", "silent-when-reused"
  ),
  ...same("Accepted 204", "body-with-204"),
  ...same("Accepted 205", "body-with-205"),
  ...same("http_3xx 304", "body-with-304"),
  ...same("http_3xx 300", "redirect-300"),
  ...same("http_3xx 301", "redirect-301"),
  ...same("http_3xx 302", "redirect-302", "redirect-file", "redirect-gopher", "redirect-script", "redirect-data", "redirect-nowhere", "redirect-long", "redirect-many"),
  ...same("http_3xx 303", "redirect-303"),
  ...same("http_3xx 305", "redirect-305"),
  ...same("http_3xx 307", "redirect-307", "redirect-metadata", "redirect-loop"),
  ...same("http_3xx 308", "redirect-308", "redirect-relative"),
  ...same("http_4xx 401", "status-401"),
  ...same("http_4xx 407", "status-407"),
  ...same("http_4xx 408", "status-408"),
  ...same("http_4xx 413", "refuses-before-body"),
  ...same("http_4xx 421", "status-421"),
  ...same("http_4xx 425", "status-425"),
  ...same("http_4xx 426", "status-426"),
  ...same("http_429 429", "status-429"),
  ...same("Gone 410", "status-410"),
  ...same("http_5xx 500", "status-500", "endless-error-body"),
  ...same(
    "http_5xx 503", "status-503", "trailers", "retry-after-negative", "retry-after-huge", "retry-after-longer", "retry-after-past", "retry-after-9999",
    "retry-after-nan", "retry-after-float", "retry-after-twice", "retry-after-empty"
  ),
  ...same(
    "tls", "tls-expired", "tls-not-yet", "tls-self-signed", "tls-unknown-authority", "tls-false-authority", "tls-other-host",
    "tls-1.0", "tls-1.1", "tls-no-cipher", "tls-h2-only", "tls-plain", "tls-garbage", "tls-closes", "tls-resets"
  )
}
