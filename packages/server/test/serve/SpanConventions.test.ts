import { Cause, Context, Exit, Option, Tracer } from "effect"
import { describe, expect, it } from "vitest"
import { withConventions, withoutOk } from "../../src/serve/SpanConventions.ts"

const spanOf = (kind: Tracer.SpanKind, name: string) =>
  withConventions(new Tracer.NativeSpan({ name, kind, parent: Option.none(), annotations: Context.empty(), links: [], startTime: 0n, sampled: true }))

const failureOf = (span: Tracer.Span): unknown => {
  if (span.status._tag !== "Ended") throw new Error("The span has not ended.")
  return Exit.isFailure(span.status.exit) ? Cause.squash(span.status.exit.cause) : undefined
}

describe("spans of requests", () => {
  it("are errors when the answer is 5xx, and not when it is 4xx", () => {
    for (const [status, isError] of [[200, false], [404, false], [429, false], [500, true], [503, true]] as const) {
      const span = spanOf("server", "GET")
      span.attribute("http.route", "/v1/events")
      span.attribute("http.response.status_code", status)
      span.end(1n, Exit.void)
      expect([span.name, span.attributes.get("error.type"), failureOf(span) instanceof Error]).toEqual(["GET /v1/events", isError ? String(status) : undefined, isError])
    }
  })
})

describe("exported spans", () => {
  it("have no status when they succeeded, and keep the status of an error", () => {
    const exported = (code: 0 | 1 | 2) => ({ spanId: String(code), status: { code, ...(code === 2 ? { message: "Answered 503." } : {}) } })
    const data = { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: "waybill" }, spans: [exported(0), exported(1), exported(2)] }] }] }
    const [resource] = withoutOk(data as never).resourceSpans
    expect(resource!.scopeSpans[0]!.spans.map(({ status }) => status)).toEqual([{ code: 0 }, { code: 0 }, { code: 2, message: "Answered 503." }])
  })
})

describe("spans of statements", () => {
  it("are called after operation and database, and have the SQLSTATE of a failure", () => {
    const span = spanOf("client", "freight")
    span.attribute("db.system.name", "postgresql")
    span.attribute("db.namespace", "freight")
    span.attribute("db.query.text", "\n  insert INTO events VALUES ($1)")
    span.end(1n, Exit.fail({ reason: { cause: Object.assign(new Error("duplicate key"), { code: "23505" }) } }))
    expect(span.name).toBe("INSERT freight")
    expect(Object.fromEntries(span.attributes)).toMatchObject({ "db.operation.name": "INSERT", "db.response.status_code": "23505", "error.type": "23505" })
  })

  it("of a failure without a code have the type that is reserved for it, and an interruption is no failure", () => {
    const broken = spanOf("client", "freight")
    broken.attribute("db.system.name", "postgresql")
    broken.end(1n, Exit.fail(new Error("connection lost")))
    expect(broken.attributes.get("error.type")).toBe("_OTHER")
    const cut = spanOf("client", "freight")
    cut.attribute("db.system.name", "postgresql")
    cut.end(1n, Exit.interrupt(1))
    expect(cut.attributes.has("error.type")).toBe(false)
  })
})
