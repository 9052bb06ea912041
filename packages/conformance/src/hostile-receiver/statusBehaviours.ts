/** Interim responses, redirects, errors, and headers that ask the client to act. */
import type { HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { answer, answers, counts, drips, fails, mayCount, overflows, pours, stalls, writes, writesAndCloses } from "./RawAnswers.ts"

const interim = (status: string) => `HTTP/1.1 ${status}\r\nlink: </a>; rel=preload\r\n\r\n`

const upgrade = (protocol: string): HostileScript =>
  fails(
    `Switches to ${protocol} without being asked.`,
    "Fail, and close the connection.",
    writes(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`)
  )

export const interimBehaviours = {
  "endless-100": overflows("failed", "Sends endless 100 Continue responses.", pours("", "HTTP/1.1 100 Continue\r\n\r\n")),
  "endless-102": overflows("failed", "Sends endless 102 Processing responses.", pours("", interim("102 Processing"))),
  "endless-103": overflows("failed", "Sends endless 103 Early Hints responses.", pours("", interim("103 Early Hints"))),
  "slow-103": stalls("Sends 103 Early Hints slowly, and nothing else.", drips("", interim("103 Early Hints"))),
  "only-102": fails("Sends 102 Processing and closes.", "Fail: there is no final response.", writesAndCloses(interim("102 Processing"))),
  "continue-first": mayCount("Sends 100 Continue without being asked, then 200.", "Use the 200, or fail.", writes("HTTP/1.1 100 Continue\r\n\r\n", answer("200 OK"))),
  "hints-first": counts(
    "Sends 103 Early Hints with an internal address, then 200.",
    "Use the 200, and load nothing.",
    ({ inside, socket }) => socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 103 Early Hints\r\nlink: <${inside}>; rel=preload\r\n\r\n`), answer("200 OK")]))
  ),
  "upgrade-websocket": upgrade("websocket"),
  "upgrade-h2c": upgrade("h2c")
} satisfies HostileScripts

const unfollowed = "Fail with the status, and do not follow the redirect."

const redirect = (status: string, location: string): HostileScript =>
  fails(`Responds ${status.slice(0, 3)} with the location ${location}.`, unfollowed, answers(status, [`location: ${location}`]))

const inwards = (status: string): HostileScript =>
  fails(`Responds ${status.slice(0, 3)} with an internal location.`, unfollowed, ({ inside, socket }) => socket.write(answer(status, [`location: ${inside}`])))

const refuses = (status: string, must = "Fail with the status."): HostileScript => fails(`Responds ${status}.`, must, answers(status, [], "no"))

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
  "redirect-nowhere": fails("Responds 302 without a location.", unfollowed, answers("302 Found")),
  "redirect-terminal": fails(
    "Responds 302 with terminal escape sequences in the location.",
    "Fail with the status, and store or log only printable characters.",
    answers("302 Found", ["location: https://a.example/\u001b[31m\u009b2J\u0085"])
  ),
  "redirect-long": fails(
    "Responds 302 with a location of 8,000 characters.",
    "Fail with the status, and store or log only a short beginning of the location.",
    answers("302 Found", [`location: https://a.example/${"a".repeat(8000)}`])
  ),
  "redirect-many": fails("Responds 302 with two locations.", unfollowed, ({ inside, socket }) =>
    socket.write(answer("302 Found", ["location: https://a.example/", `location: ${inside}`]))),
  "status-401": fails("Responds 401 and requests credentials.", "Fail with the status, and send no credentials.", answers("401 Unauthorized", ["www-authenticate: Negotiate", "www-authenticate: Basic realm=\"x\""])),
  "status-407": fails("Responds 407 and requests proxy credentials.", "Fail with the status, and send no credentials.", answers("407 Proxy Authentication Required", ["proxy-authenticate: Basic realm=\"x\""])),
  "status-408": refuses("408 Request Timeout", "Fail with the status, and do not resend automatically."),
  "status-410": { does: "Responds 410.", must: "Stop sending to this receiver.", outcome: "gone", ends: "receiver", onRequest: answers("410 Gone", [], "bye") },
  "status-421": refuses("421 Misdirected Request", "Fail with the status, and do not resend on another connection automatically."),
  "status-425": refuses("425 Too Early"),
  "status-426": fails("Responds 426 and requests another protocol.", "Fail with the status.", answers("426 Upgrade Required", ["connection: upgrade", "upgrade: h2c"])),
  "status-429": refuses("429 Too Many Requests"),
  "status-500": refuses("500 Internal Server Error"),
  "status-503": refuses("503 Service Unavailable", "Fail with the status, and do not resend automatically."),
  "status-late": {
    ...stalls("Responds 200 after the deadline."),
    must: "Time out at the deadline, and ignore the late response.",
    onRequest: ({ socket }) => {
      // as late as possible: when the sender closes the connection
      socket.once("end", () => socket.end(answer("200 OK", [], "late")))
    }
  }
} satisfies HostileScripts

const untouched = "Use the status. Ignore the header in later requests."

const wants = (does: string, ...headers: ReadonlyArray<string>): HostileScript => counts(does, untouched, answers("200 OK", headers))

const retryAfter = (does: string, ...values: ReadonlyArray<string>): HostileScript =>
  fails(
    `Responds 503 with ${does}.`,
    "Ignore the header, or use a limited, non-negative number of seconds.",
    answers("503 Service Unavailable", values.map((value) => `retry-after: ${value}`))
  )

export const headersBehaviours = {
  "cookie": wants("Sets a cookie.", "set-cookie: id=hostile; path=/; max-age=31536000"),
  "cookie-flood": wants("Sets 200 cookies.", ...Array.from({ length: 200 }, (_, n) => `set-cookie: c${n}=${"v".repeat(20)}`)),
  "alt-svc": wants("Offers the service at an internal address, with Alt-Svc.", "alt-svc: h3=\":443\"; ma=31536000, h2=\"127.0.0.1:6379\"; ma=31536000"),
  "hsts": wants("Requires https for later requests, with Strict-Transport-Security.", "strict-transport-security: max-age=31536000; includeSubDomains"),
  "link-preload": counts("Sends a preload Link to an internal address.", "Use the 200, and load nothing.", ({ inside, socket }) =>
    socket.write(answer("200 OK", [`link: <${inside}>; rel=preload`]))),
  "refresh": counts("Sends Refresh and Location headers with an internal address.", "Use the 200, and follow no address.", ({ inside, socket }) =>
    socket.write(answer("200 OK", [`refresh: 0; url=${inside}`, `content-location: ${inside}`, `location: ${inside}`]))),
  "reporting": counts("Requests reports to an internal address.", "Use the 200, and send no report.", ({ inside, socket }) =>
    socket.write(answer("200 OK", [`reporting-endpoints: a="${inside}"`, `report-to: {"endpoints":[{"url":"${inside}"}]}`, "nel: {\"report_to\":\"a\",\"max_age\":1}"]))),
  "keep-alive-0": wants("Declares a keep-alive of 0 seconds.", "keep-alive: timeout=0, max=0"),
  "keep-alive-forever": wants("Declares a keep-alive of 30 years.", "keep-alive: timeout=999999999, max=999999999"),
  "keep-alive-nonsense": wants("Declares contradictory keep-alive values.", "keep-alive: timeout=-1", "keep-alive: timeout=NaN, timeout=1e9", "connection: keep-alive, close, upgrade"),
  "retry-after-negative": retryAfter("Retry-After -60", "-60"),
  "retry-after-huge": retryAfter("Retry-After 10^12", "1000000000000"),
  "retry-after-longer": retryAfter("Retry-After 10^1000", `1${"0".repeat(1000)}`),
  "retry-after-past": retryAfter("a Retry-After date in 1970", "Thu, 01 Jan 1970 00:00:00 GMT"),
  "retry-after-9999": retryAfter("a Retry-After date in the year 9999", "Fri, 31 Dec 9999 23:59:59 GMT"),
  "retry-after-nan": retryAfter("Retry-After NaN", "NaN"),
  "retry-after-float": retryAfter("Retry-After 1e9", "1e9"),
  "retry-after-twice": retryAfter("three different Retry-After headers", "1", "999999999", "soon"),
  "retry-after-empty": retryAfter("an empty Retry-After header", "")
} satisfies HostileScripts
