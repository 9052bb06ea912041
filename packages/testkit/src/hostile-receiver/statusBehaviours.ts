/** Interim responses, redirects, errors, and headers that ask the client to act. */
import type { HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { answer, answers, counts, drips, fails, overflows, pours, stalls, writes, writesAndCloses } from "./RawAnswers.ts"

const interim = (status: string) => `HTTP/1.1 ${status}\r\nlink: </a>; rel=preload\r\n\r\n`

const upgrade = (protocol: string): HostileScript =>
  fails(
    `Switches to ${protocol}, which nobody asked for.`,
    "Fail, and close the connection.",
    writes(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`)
  )

export const interimBehaviours = {
  "endless-100": overflows("failed", "Says 100 Continue without end.", pours("", "HTTP/1.1 100 Continue\r\n\r\n")),
  "endless-102": overflows("failed", "Says 102 Processing without end.", pours("", interim("102 Processing"))),
  "endless-103": overflows("failed", "Says 103 Early Hints without end.", pours("", interim("103 Early Hints"))),
  "slow-103": stalls("Says 103 Early Hints now and then, and nothing else.", drips("", interim("103 Early Hints"))),
  "only-102": fails("Says 102 Processing and closes.", "Fail: there was no answer.", writesAndCloses(interim("102 Processing"))),
  "continue-first": {
    does: "Says 100 Continue, which nobody asked for, before it answers 200.",
    must: "Take the 200, or fail.",
    outcome: "either",
    ends: "receiver",
    onRequest: writes("HTTP/1.1 100 Continue\r\n\r\n", answer("200 OK"))
  },
  "hints-first": counts(
    "Hints at what to load from the inside before it answers 200.",
    "Take the 200, and load nothing.",
    ({ inside, socket }) => socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 103 Early Hints\r\nlink: <${inside}>; rel=preload\r\n\r\n`), answer("200 OK")]))
  ),
  "upgrade-websocket": upgrade("websocket"),
  "upgrade-h2c": upgrade("h2c")
} satisfies HostileScripts

const unfollowed = "Fail with the status, and go nowhere."

const redirect = (status: string, location: string): HostileScript =>
  fails(`Answers ${status.slice(0, 3)} and points to ${location}.`, unfollowed, answers(status, [`location: ${location}`]))

const inwards = (status: string): HostileScript =>
  fails(`Answers ${status.slice(0, 3)} and points inside.`, unfollowed, ({ inside, socket }) => socket.write(answer(status, [`location: ${inside}`])))

const refuses = (status: string, must = "Fail with the status."): HostileScript => fails(`Answers ${status}.`, must, answers(status, [], "no"))

export const statusBehaviours = {
  "redirect-301": inwards("301 Moved Permanently"),
  "redirect-302": inwards("302 Found"),
  "redirect-303": inwards("303 See Other"),
  "redirect-307": inwards("307 Temporary Redirect"),
  "redirect-308": inwards("308 Permanent Redirect"),
  "redirect-300": inwards("300 Multiple Choices"),
  "redirect-305": inwards("305 Use Proxy"),
  "redirect-metadata": redirect("307 Temporary Redirect", "http://169.254.169.254/latest/meta-data/iam/security-credentials/"),
  "redirect-file": redirect("302 Found", "file:///etc/passwd"),
  "redirect-gopher": redirect("302 Found", "gopher://127.0.0.1:6379/_FLUSHALL"),
  "redirect-script": redirect("302 Found", "javascript:alert(1)"),
  "redirect-data": redirect("302 Found", "data:text/html,<script>alert(1)</script>"),
  "redirect-relative": redirect("308 Permanent Redirect", "//127.0.0.1/x/../../admin"),
  "redirect-loop": redirect("307 Temporary Redirect", "/"),
  "redirect-nowhere": fails("Answers 302 and points nowhere.", unfollowed, answers("302 Found")),
  "redirect-terminal": fails(
    "Answers 302 and points to what a terminal obeys.",
    "Fail with the status, and repeat nothing that is not printable.",
    answers("302 Found", ["location: https://a.example/\u001b[31m\u009b2J\u0085"])
  ),
  "redirect-long": fails(
    "Answers 302 and points to 8,000 characters.",
    "Fail with the status, and repeat only a beginning of it.",
    answers("302 Found", [`location: https://a.example/${"a".repeat(8000)}`])
  ),
  "redirect-many": fails("Answers 302 and points to two places.", unfollowed, ({ inside, socket }) =>
    socket.write(answer("302 Found", ["location: https://a.example/", `location: ${inside}`]))),
  "status-401": fails("Answers 401 and wants credentials.", "Fail with the status, and give none.", answers("401 Unauthorized", ["www-authenticate: Negotiate", "www-authenticate: Basic realm=\"x\""])),
  "status-407": fails("Answers 407 and wants a proxy's credentials.", "Fail with the status, and give none.", answers("407 Proxy Authentication Required", ["proxy-authenticate: Basic realm=\"x\""])),
  "status-408": refuses("408 Request Timeout", "Fail with the status, and send nothing again by itself."),
  "status-410": { does: "Answers 410.", must: "Take it that nothing more is wanted.", outcome: "gone", ends: "receiver", onRequest: answers("410 Gone", [], "bye") },
  "status-421": refuses("421 Misdirected Request", "Fail with the status, and try no other connection by itself."),
  "status-425": refuses("425 Too Early"),
  "status-426": fails("Answers 426 and wants another protocol.", "Fail with the status.", answers("426 Upgrade Required", ["connection: upgrade", "upgrade: h2c"])),
  "status-429": refuses("429 Too Many Requests"),
  "status-500": refuses("500 Internal Server Error"),
  "status-503": refuses("503 Service Unavailable", "Fail with the status, and send nothing again by itself."),
  "status-late": {
    ...stalls("Answers 200 when the deadline has passed."),
    must: "Give up at the deadline; the late answer is nobody's.",
    onRequest: ({ socket }) => {
      // as late as possible: when the sender closes the connection
      socket.once("end", () => socket.end(answer("200 OK", [], "late")))
    }
  }
} satisfies HostileScripts

const untouched = "Take the status. Nothing of this is kept for the next request."

const wants = (does: string, ...headers: ReadonlyArray<string>): HostileScript => counts(does, untouched, answers("200 OK", headers))

const retryAfter = (does: string, ...values: ReadonlyArray<string>): HostileScript =>
  fails(
    `Answers 503 and asks to come again ${does}.`,
    "Take nothing or a bounded number of seconds from it, never less than none.",
    answers("503 Service Unavailable", values.map((value) => `retry-after: ${value}`))
  )

export const headersBehaviours = {
  "cookie": wants("Sets a cookie.", "set-cookie: id=hostile; path=/; max-age=31536000"),
  "cookie-flood": wants("Sets 200 cookies.", ...Array.from({ length: 200 }, (_, n) => `set-cookie: c${n}=${"v".repeat(20)}`)),
  "alt-svc": wants("Says that it is elsewhere, too.", "alt-svc: h3=\":443\"; ma=31536000, h2=\"127.0.0.1:6379\"; ma=31536000"),
  "hsts": wants("Wants https from now on.", "strict-transport-security: max-age=31536000; includeSubDomains"),
  "link-preload": counts("Wants something of the inside loaded.", "Take the 200, and load nothing.", ({ inside, socket }) =>
    socket.write(answer("200 OK", [`link: <${inside}>; rel=preload`]))),
  "refresh": counts("Wants to be left for the inside at once.", "Take the 200, and go nowhere.", ({ inside, socket }) =>
    socket.write(answer("200 OK", [`refresh: 0; url=${inside}`, `content-location: ${inside}`, `location: ${inside}`]))),
  "reporting": counts("Wants reports sent inside.", "Take the 200, and report nothing.", ({ inside, socket }) =>
    socket.write(answer("200 OK", [`reporting-endpoints: a="${inside}"`, `report-to: {"endpoints":[{"url":"${inside}"}]}`, "nel: {\"report_to\":\"a\",\"max_age\":1}"]))),
  "keep-alive-0": wants("Keeps the connection for no time at all.", "keep-alive: timeout=0, max=0"),
  "keep-alive-forever": wants("Wants the connection kept for 30 years.", "keep-alive: timeout=999999999, max=999999999"),
  "keep-alive-nonsense": wants("Wants the connection kept for nonsense.", "keep-alive: timeout=-1", "keep-alive: timeout=NaN, timeout=1e9", "connection: keep-alive, close, upgrade"),
  "retry-after-negative": retryAfter("a minute ago", "-60"),
  "retry-after-huge": retryAfter("in 10^12 seconds", "1000000000000"),
  "retry-after-longer": retryAfter("in 10^1000 seconds", `1${"0".repeat(1000)}`),
  "retry-after-past": retryAfter("in 1970", "Thu, 01 Jan 1970 00:00:00 GMT"),
  "retry-after-9999": retryAfter("in the year 9999", "Fri, 31 Dec 9999 23:59:59 GMT"),
  "retry-after-nan": retryAfter("after NaN", "NaN"),
  "retry-after-float": retryAfter("after 1e9 seconds", "1e9"),
  "retry-after-twice": retryAfter("after three different times", "1", "999999999", "soon"),
  "retry-after-empty": retryAfter("after nothing", "")
} satisfies HostileScripts
