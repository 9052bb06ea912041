/** Where our parser and undici judge a response differently, and why we do. */
import type { Verdict } from "./ResponseVerdict.ts"

export interface Difference {
  readonly what: string
  /** A response that shows it. The receiver closes the connection after it. */
  readonly example: string
  /** Whether it explains these verdicts about `text`, a response in latin1. */
  readonly explains: (text: string, ours: Verdict, theirs: Verdict) => boolean
}

const headRefused = ({ ended, status }: Verdict) => ended === "broken" && status === undefined

const refused = ({ ended }: Verdict) => ended === "broken"

const sameExceptReuse = (ours: Verdict, theirs: Verdict) => JSON.stringify({ ...ours, reusable: true }) === JSON.stringify({ ...theirs, reusable: true })

export const differences: ReadonlyArray<Difference> = [
  {
    what: "We refuse HTTP/0.9, HTTP/2.0, RTSP and ICE: nobody asked for them",
    example: "HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n",
    explains: (text, ours) => headRefused(ours) && /(?:HTTP\/0\.9|HTTP\/2\.0|RTSP\/|ICE\/)/.test(text)
  },
  {
    what: "We skip 100 Continue like other interim responses, as RFC 9110 section 15.2 says: some servers send it unsolicited",
    example: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    explains: (text, _, theirs) => headRefused(theirs) && /HTTP\/1\.[01] 100[ \r]/.test(text)
  },
  {
    what: "We ignore the headers of interim responses: they say nothing about the final one",
    example: "HTTP/1.1 103 Early Hints\r\nconnection: close\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    explains: (text, ours, theirs) => /HTTP\/1\.[01] 1\d\d[^]*HTTP\/1/.test(text) && (headRefused(theirs) || sameExceptReuse(ours, theirs))
  },
  {
    what: "We refuse lengths and chunk sizes from 2^53 on: they cannot be counted exactly, and no response is that long",
    example: "HTTP/1.1 200 OK\r\ncontent-length: 9007199254740993\r\n\r\nok",
    explains: (text, ours) => refused(ours) && /(?:content-length:[ \t]*0*[1-9]\d{15}|\n0*(?:[1-9a-f][\da-f]{14}|[2-9a-f][\da-f]{13}))/i.test(text)
  },
  {
    what: "We accept spaces after a length, as RFC 9110 section 5.5 says; undici counts them as digits",
    example: "HTTP/1.1 200 OK\r\ncontent-length: 2 \r\n\r\nok",
    explains: (text, _, theirs) => refused(theirs) && /content-length:[ \t]*\d+[ \t]+\r/i.test(text)
  },
  {
    what: "We refuse two carriage returns after the status line; undici reads them as the end of the head",
    example: "HTTP/1.1 200 OK\r\r\r\ncontent-length: 2\r\n\r\nok",
    explains: (text, ours) => headRefused(ours) && /HTTP\/1\.[01] \d{3}[^\r]*\r\r/.test(text)
  },
  {
    what: "We accept a tab after a connection option; undici does not keep the connection then",
    example: "HTTP/1.0 204 OK\r\nconnection: keep-alive\t\r\n\r\n",
    explains: (text, ours, theirs) => ours.reusable && sameExceptReuse(ours, theirs) && /connection:[^\r]*keep-alive *\t/i.test(text)
  },
  {
    what: "We accept a tab after chunked; undici reads such a body to the end of the connection",
    example: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\t\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    explains: (text) => /transfer-encoding:[^\r]*chunked *\t[ \t]*\r/i.test(text)
  },
  {
    what: "We refuse an empty transfer-encoding beside a length; undici does only if it comes after the length",
    example: "HTTP/1.1 200 OK\r\ntransfer-encoding:\r\ncontent-length: 2\r\n\r\nok",
    explains: (text, ours) => headRefused(ours) && /transfer-encoding:[ \t]*\r/i.test(text) && /content-length:/i.test(text)
  },
  {
    what: "We do not parse chunk extensions beyond their characters: they mean nothing, and servers send unusual ones",
    example: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2; x=y\r\nok\r\n0\r\n\r\n",
    explains: (text, _, theirs) => refused(theirs) && /\n[\da-f]+;/i.test(text)
  },
  {
    what: "We ignore all trailers; undici refuses a length among them",
    example: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\ncontent-length: 2\r\n\r\n",
    explains: (text, _, theirs) => refused(theirs) && /\n0+[^\r]*\r\n[^]*content-length:/i.test(text)
  },
  {
    what: "We close a connection after any byte behind a response; undici accepts line breaks there",
    example: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok\r\n",
    explains: (_, ours, theirs) => !ours.reusable && sameExceptReuse(ours, theirs)
  }
]

export const differenceOf = (text: string, ours: Verdict, theirs: Verdict): Difference | undefined =>
  differences.find(({ explains }) => explains(text, ours, theirs))
