/** Records every statement of the client by its trace span. */
import { Effect, Layer, Tracer } from "effect"

export const recordedStatements = (): { readonly texts: ReadonlySet<string>; readonly layer: Layer.Layer<never> } => {
  const texts = new Set<string>()
  class RecordingSpan extends Tracer.NativeSpan {
    override attribute(key: string, value: unknown): void {
      super.attribute(key, value)
      if (key === "db.query.text") texts.add(String(value))
    }
  }
  const tracer = Tracer.make({ span: (options) => new RecordingSpan(options) })
  return { texts, layer: Layer.effectDiscard(Effect.void).pipe(Layer.provideMerge(Layer.succeed(Tracer.Tracer, tracer))) }
}
