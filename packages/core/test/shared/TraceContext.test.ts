import { assert, describe, it } from "@effect/vitest"
import { traced } from "@waybill/core"
import { Effect, References, Tracer } from "effect"
import { currentTraceparent, spanFrom } from "../../src/shared/TraceContext.ts"

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

describe("trace context", () => {
  it("parses a traceparent of another process", () => {
    const span = spanFrom(traceparent)!
    assert.deepStrictEqual([span.traceId, span.spanId, span.sampled], ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", true])
    assert.isFalse(spanFrom(traceparent.replace(/01$/, "00"))!.sampled)
  })

  it.for([
    undefined,
    "",
    "garbage",
    "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01"
  ])("ignores %j", (text) => assert.isUndefined(spanFrom(text)))

  it.effect("formats the current span, and nothing outside a span", Effect.fnUntraced(function*() {
    assert.isUndefined(yield* currentTraceparent)
    const span = Tracer.externalSpan({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true })
    assert.strictEqual(yield* currentTraceparent.pipe(Effect.provideService(Tracer.ParentSpan, span)), traceparent)
    const unsampled = Tracer.externalSpan({ traceId: span.traceId, spanId: span.spanId, sampled: false })
    assert.isUndefined(yield* currentTraceparent.pipe(Effect.provideService(Tracer.ParentSpan, unsampled)))
  }, Effect.provideService(Tracer.Tracer, Tracer.make({ span: (options) => new Tracer.NativeSpan(options) }))))

  it.effect("creates a span when tracing is on, and none when it is off", Effect.fnUntraced(function*() {
    const names: Array<string> = []
    const tracer = Tracer.make({
      span: (options) => {
        names.push(options.name)
        return new Tracer.NativeSpan(options)
      }
    })
    const call = Effect.succeed(1).pipe(traced("Area.call"))
    assert.strictEqual(yield* call.pipe(Effect.provideService(Tracer.Tracer, tracer)), 1)
    assert.strictEqual(yield* call.pipe(Effect.provideService(Tracer.Tracer, tracer), Effect.provideService(References.TracerEnabled, false)), 1)
    assert.strictEqual(yield* call, 1)
    assert.deepStrictEqual(names, ["Area.call"])
  }))

  it.effect("formats nothing when tracing is off", Effect.fnUntraced(function*() {
    assert.isUndefined(yield* Effect.withSpan(currentTraceparent, "untraced"))
  }))
})
