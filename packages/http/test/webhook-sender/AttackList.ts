/**
 * Numbered attacks against a webhook sender, each with its proof: hostile behaviours, addresses and names of the test
 * kit, or tests elsewhere.
 */
import type { HostileBehaviourName } from "@waybill/conformance/hostile"

export interface Attack {
  readonly attack: string
  /** Each is a test of `hostile.test.ts`. */
  readonly behaviours?: ReadonlyArray<HostileBehaviourName>
  /** Prefixes of URL names; `hostile.addresses.test.ts` tries all of them. */
  readonly urls?: ReadonlyArray<string>
  readonly names?: ReadonlyArray<string>
  /** Files below `packages/`, each with a part of its text: the title of a test. */
  readonly tests?: ReadonlyArray<readonly [file: string, title: string]>
  /** Remaining risk, and why it is accepted. */
  readonly left?: string
}

const own = (file: string, title: string) => [`http/test/webhook-sender/${file}`, title] as const
const signature = (title: string) => ["client/test/receiver/Signature.test.ts", title] as const
const secrets = (title: string) => ["core/test/delivery/secrets/SigningSecrets.test.ts", title] as const
const subscriptions = (title: string) => ["core/test/transit-events/TransitSubscriptions.test.ts", title] as const

const registries = own("AddressGuard.test.ts", "agrees with the registries at the edges of every special network")
const carriers = own("AddressGuard.test.ts", "judges IPv4-mapped and NAT64 addresses by their IPv4 address")

/** Attacks on the destination. */
const destinations: Readonly<Record<number, Attack>> = {
  1: { attack: "loopback, private and link-local addresses", urls: ["loopback, ", "private ", "link local"], names: ["inside"], tests: [registries] },
  2: { attack: "this network, shared, documentation, benchmarking, multicast, reserved", urls: ["this host", "shared", "documentation", "benchmarking", "multicast", "reserved", "broadcast", "protocol assignments"], names: ["this-host"], tests: [registries] },
  3: {
    attack: "decimal, hex, octal, short, full-width, escaped and broken-up literals",
    urls: ["loopback, decimal", "loopback, hex", "loopback, octal", "loopback, short", "loopback, full width", "loopback, percent-encoded", "loopback, tab inside", "loopback, line break inside"],
    tests: [own("AddressGuard.test.ts", "judges an IPv4 address alike in any notation")]
  },
  4: { attack: "IPv4-mapped IPv6", urls: ["loopback, IPv4-mapped"], names: ["mapped"], tests: [carriers] },
  5: { attack: "an IPv6 literal in brackets", urls: ["loopback IPv6"], names: ["loopback-6"] },
  6: { attack: "a literal, for which nothing is resolved", tests: [own("WebhookSenderHttp.addresses.test.ts", "although no name is resolved for it")] },
  7: { attack: "IPv4-compatible, translated, site-local, Teredo", urls: ["loopback, IPv4-compatible", "loopback, translated", "loopback, Teredo", "site local"], tests: [carriers] },
  8: { attack: "NAT64 and 6to4 that carry a private address", urls: ["loopback, NAT64", "loopback, local NAT64", "loopback, 6to4"], names: ["nat64"], tests: [carriers] },
  9: { attack: "unique local, link local with a zone, metadata over IPv6", urls: ["unique local", "link local with a zone", "metadata, AWS IPv6"], names: ["zone"] },
  10: { attack: "every cloud's metadata, on public addresses and by name, too", urls: ["metadata"], names: ["metadata"], tests: [own("AddressGuard.test.ts", "refuses the metadata address of every cloud")] },
  11: { attack: "localhost in every spelling", urls: ["localhost", "below localhost", "loopback, trailing dot", "loopback, ideographic dots", "a name without a dot", "an internal name"] },
  12: { attack: "a name with public and private addresses", names: ["outside-and-inside", "inside-and-outside", "inside-among-many"], tests: [own("hostile.addresses.test.ts", "checks all of a thousand addresses")] },
  13: { attack: "a name that turns inside after it was vetted", names: ["rebinding"] },
  14: {
    attack: "redirects",
    behaviours: [
      "redirect-300", "redirect-301", "redirect-302", "redirect-303", "redirect-305", "redirect-307", "redirect-308", "redirect-metadata", "redirect-file",
      "redirect-gopher", "redirect-script", "redirect-data", "redirect-relative", "redirect-loop", "redirect-nowhere", "redirect-terminal", "redirect-long",
      "redirect-many", "refresh", "link-preload", "hints-first", "reporting", "alt-svc"
    ]
  },
  15: { attack: "credentials, fragments, ports, schemes, length", urls: ["credentials", "a user only", "a fragment", "a backslash", "port ", "scheme ", "plain http", "no scheme", "empty", "longer than", "control characters"] },
  16: {
    attack: "the service's own address",
    tests: [own("WebhookSenderHttp.answers.test.ts", "sends the exact bytes, the given headers and its own")],
    left: "A request carries no credentials that the service would take; so the service answers 401, and nothing goes round."
  },
  17: { attack: "an address that changes while a delivery waits", tests: [own("WebhookSenderHttp.addresses.test.ts", "checks the whole URL again at every attempt")] },
  18: { attack: "proxies in the environment", tests: [own("WebhookSenderHttp.addresses.test.ts", "ignores proxy variables of the environment")] },
  19: {
    attack: "words that reveal the internal network",
    names: ["nowhere", "unknown", "unanswered", "no-address"],
    tests: [own("WebhookSenderHttp.addresses.test.ts", "returns the same outcome whether a refused port is open, closed or silent")]
  }
}

/** Attacks by the response. */
const answers: Readonly<Record<number, Attack>> = {
  20: {
    attack: "heads and bodies that drip or never end",
    behaviours: [
      "never-accepts", "says-nothing", "reads-nothing", "slow-status-line", "slow-head", "slow-body", "slow-chunks", "silent-body", "status-late",
      "endless-body", "endless-error-body", "silent-when-reused"
    ],
    tests: [own("hostile.test.ts", "times out when a receiver does not read a large body")]
  },
  21: { attack: "interim answers without end", behaviours: ["endless-100", "endless-102", "endless-103", "slow-103", "only-102", "continue-first"] },
  22: { attack: "giant answers", behaviours: ["endless-chunk", "endless-chunks", "endless-chunk-extension", "endless-trailers", "endless-blank-lines"], tests: [own("hostile.test.ts", "copies a body a few times at most")] },
  23: { attack: "compression bombs", behaviours: ["gzip-bomb", "double-gzip-bomb", "deflate-bomb", "brotli-bomb", "zstd-bomb", "not-gzip"] },
  24: {
    attack: "giant headers, and many",
    behaviours: ["endless-head", "endless-header-name", "endless-header-value", "endless-status-line", "huge-header", "huge-status-line", "many-headers", "cookie-flood"]
  },
  25: {
    attack: "bytes that are no text",
    behaviours: ["header-not-ascii", "nul-in-header", "bare-cr-in-header", "body-nul", "body-broken-utf-8", "garbage"],
    tests: [own("Answer.test.ts", "replaces NUL, control characters, invalid UTF-8 and direction marks")]
  },
  26: {
    attack: "a second answer behind the first",
    behaviours: [
      "second-answer", "second-answer-error", "second-answer-chunked", "second-answer-in-pieces", "second-answer-later", "hundred-answers", "interim-behind",
      "half-answer-behind", "bytes-behind", "closes-and-goes-on", "answers-before-request", "accepts-before-body", "long-body"
    ],
    tests: [
      own("hostile.test.ts", "gives no forged response to requests that wait for the connection"),
      own("hostile.test.ts", "writes no request behind the rest of one that was answered before it was read")
    ],
    left: "HTTP/1.1 answers carry no name: bytes that arrive after the next request was written count for that one. A receiver can lie so about itself only."
  },
  27: {
    attack: "connections that break off",
    behaviours: [
      "resets-after-request", "resets-before-body", "resets-in-body", "resets-on-connect", "closes-on-connect", "closes-after-request", "closes-in-head",
      "half-closes", "closes-idle", "resets-idle", "resets-reused", "refuses-before-body", "status-408"
    ]
  },
  28: {
    attack: "other versions, broken framing, upgrades, bodies where there are none",
    behaviours: [
      "http-1.0", "http-0.9", "http-2", "version-9.9", "version-icy", "ssh-banner", "smtp-banner", "redis-error", "tls-alert", "echo",
      "status-0", "status-99", "status-600", "status-999", "status-1000", "status-2000", "status-negative", "space-before-colon", "header-without-colon",
      "short-body", "length-negative", "length-signed", "length-hex", "length-huge", "length-twice", "length-and-chunked", "chunked-not-last",
      "chunk-size-no-number", "chunk-size-huge", "chunk-size-negative", "chunk-longer", "chunks-cut-off", "trailers",
      "upgrade-websocket", "upgrade-h2c", "body-with-204", "body-with-205", "body-with-304", "status-426", "keep-alive-0", "keep-alive-forever", "keep-alive-nonsense"
    ],
    tests: [own("ResponseParser.fuzz.test.ts", "judge generated and mutated responses alike")]
  },
  29: { attack: "200 with a page to sign in", behaviours: ["body-html"], tests: [own("WebhookSenderHttp.answers.test.ts", "accepts a 200 with an HTML login page and keeps its beginning")] },
  30: {
    attack: "Retry-After beyond reason, and statuses that ask for something",
    behaviours: [
      "retry-after-negative", "retry-after-huge", "retry-after-longer", "retry-after-past", "retry-after-9999", "retry-after-nan", "retry-after-float",
      "retry-after-twice", "retry-after-empty", "status-429", "status-503", "status-500", "status-410", "status-401", "status-407", "status-421", "status-425",
      "cookie", "hsts"
    ],
    tests: [["core/test/delivery/worker/Attempts.test.ts", "waits for Retry-After, within bounds"]]
  },
  31: {
    attack: "an answer that is shown somewhere",
    behaviours: ["body-terminal", "body-directions", "body-log-lines", "body-formula", "body-one-glyph"],
    tests: [own("Answer.test.ts", "replaces terminal sequences as a whole"), ["server/test/dashboard/hostile.test.ts", "has a policy that blocks an injected script"]]
  },
  32: {
    attack: "certificates that are not good, old protocols, no common cipher",
    behaviours: [
      "tls-expired", "tls-not-yet", "tls-self-signed", "tls-unknown-authority", "tls-false-authority", "tls-1.0", "tls-1.1", "tls-no-cipher", "tls-h2-only",
      "tls-wants-certificate", "tls-plain", "tls-garbage"
    ],
    tests: [own("WebhookSenderHttp.tls.test.ts", "recovers as soon as the certificate is renewed")],
    left: "Revocation is not looked up: Node does not. A certificate that was revoked is good until it expires."
  },
  33: { attack: "another host's certificate at the vetted address", behaviours: ["tls-other-host"], tests: [own("WebhookSenderHttp.tls.test.ts", "verifies the name although the address is pinned")] },
  34: { attack: "plain http", urls: ["plain http"], tests: [own("WebhookSenderHttp.tls.test.ts", "keeps verifying when the environment disables it")] },
  35: { attack: "a handshake that never ends, or begins again", behaviours: ["tls-silent", "tls-slow", "tls-closes", "tls-resets", "tls-renegotiates"] }
}

/** Attacks on signatures. */
const signing: Readonly<Record<number, Attack>> = {
  36: { attack: "copies, old, new and from the future", tests: [signature("accepts 300 seconds of difference in both directions, and no more"), ["client/test/receiver/DeliveryReceiver.test.ts", "does not call the handler for a replay of known events"]] },
  37: { attack: "ids that move the border to the time", tests: [signature("refuses an id with a dot"), ["core/test/shared/UniqueIds.test.ts", "contain no dot, which separates the signed parts"]] },
  38: { attack: "measuring how long a comparison takes", tests: [signature("in the body, refuses"), ["client/src/receiver/Signature.ts", "and only one is valid. Constant time"]] },
  39: { attack: "secrets that are none", tests: [["core/test/delivery/model/Signature.test.ts", "refuses secrets that are shorter, longer, not base64, or without the prefix"], secrets("refuses an invalid secret, an invalid id and an unknown tenant")] },
  40: { attack: "times that are no numbers", tests: [signature("1614265330abc")] },
  41: { attack: "10,000 signatures", tests: [signature("refuses a header of 10,000 signatures without hashing"), signature("accepts the one that matches and ignores unknown versions")] },
  42: { attack: "a body that is written anew after it was signed", tests: [own("WebhookSenderHttp.answers.test.ts", "sends the exact bytes, the given headers and its own"), ["core/test/delivery/worker/DeliveryWorker.subscription.test.ts", "is the same on every retry, except for time and signature"]] },
  43: { attack: "bodies that are no text", tests: [signature("accepts any bytes: none, a byte order mark, half surrogates, invalid UTF-8")] },
  44: { attack: "an older version of the signature", tests: [signature("refuses a valid signature under another version")] },
  45: { attack: "secrets in logs and errors", tests: [["server/test/serve/Logging.test.ts", "contains no secret, even when an error quotes one"], signature("throws without showing it")] },
  46: { attack: "secrets in the database", tests: [secrets("stores it sealed, bound to tenant and id"), secrets("opens with an older key, and seals with the newest")] },
  47: { attack: "rotation", tests: [secrets("rotates: the previous version keeps signing for the overlap"), ["core/test/delivery/worker/DeliveryWorker.subscription.test.ts", "is signed with both secrets while one is being rotated"]] },
  48: { attack: "somebody else's secret", tests: [subscriptions("answers a secret of another client like an unknown one"), ["conformance/src/delivery/SecretStoreSuite.ts", "isolates tenants and ids"]] }
}

/** Attacks by a tenant's configuration. */
const configuration: Readonly<Record<number, Attack>> = {
  49: { attack: "headers that HTTP decides", tests: [own("WebhookSenderHttp.answers.test.ts", "ignores headers that HTTP itself sets")] },
  50: { attack: "headers that cannot be written", tests: [own("WebhookSenderHttp.answers.test.ts", "fails without sending when a header is invalid")] },
  51: { attack: "filters beyond measure", tests: [subscriptions("accepts up to 1,000 shipments"), subscriptions("treats a member called __proto__ as unknown")] },
  52: { attack: "policies beyond measure", tests: [subscriptions("lists every member that is missing, unknown or out of bounds"), ["core/test/delivery/model/RetryDecision.test.ts", "stays finite for any number of attempts"]] },
  53: {
    attack: "many subscriptions to one victim",
    tests: [own("WebhookSenderHttp.connections.test.ts", "sends many requests at once, each over its own connection up to the limit"), own("hostile.addresses.test.ts", "tries a few of a thousand addresses")],
    left: "Requests to one origin are bounded by connections at a time, not by a rate across tenants."
  },
  54: { attack: "changes while something is in flight", tests: [["core/test/delivery/worker/DeliveryWorker.subscription.test.ts", "that is removed while a delivery is in flight keeps its outcome"], subscriptions("keeps all of several concurrent changes")] },
  55: { attack: "test calls as a scanner", tests: [["core/test/freight-charges/ChargeSubscriptions.test.ts", "is allowed ten times a minute per client"]] },
  56: { attack: "payloads that are too large", behaviours: ["refuses-before-body"], tests: [["core/test/delivery/worker/DeliveryWorker.subscription.test.ts", "has at most the bytes that the operator allows, unless one event is larger"]] },
  57: { attack: "guessing ids", tests: [subscriptions("are private: another client's id answers like an unknown one")] },
  58: { attack: "merge patches", tests: [subscriptions("resets filters, delivery or one of their members with null"), subscriptions("refuses null for address, secret and status")] }
}

export const attacks: Readonly<Record<number, Attack>> = { ...destinations, ...answers, ...signing, ...configuration }
