/** Checks of other services: the identity provider's keys, and the place of documents. */
import { Transaction } from "@waybill/core"
import { DocumentContents } from "@waybill/core/invoices"
import { Effect, Layer, Logger } from "effect"
import { bytesUpTo } from "../../BytesUpTo.ts"
import { documentsText, type ServerConfig } from "../../config/ServerConfig.ts"
import { placeLayer } from "../../serve/Documents.ts"
import { counted } from "../shared/Output.ts"
import { broken, type Finding, ok } from "./Finding.ts"
import { fullDiskOf } from "./FullDisk.ts"

const timeoutMillis = 5_000

/** More keys than any provider has. */
const mostBytes = 1024 * 1024

export const jwksFinding = ({ jwt }: Pick<ServerConfig, "jwt">): Effect.Effect<Finding> => {
  if (jwt === undefined) return Effect.succeed(ok("JWTs are not accepted"))
  const todo = "Correct WAYBILL_JWT_JWKS_URL, or let this machine reach it. A process that fetched the keys within the last hour still accepts their tokens; all others answer 503."
  return Effect.promise(async () => {
    try {
      const response = await fetch(jwt.jwksUrl, { signal: AbortSignal.timeout(timeoutMillis), redirect: "manual" })
      if (!response.ok) return broken(`${jwt.jwksUrl} answers ${response.status}`, todo)
      const answer = await bytesUpTo(mostBytes, response.body ?? [])
      if (answer === undefined) throw new Error(`the answer is larger than ${mostBytes} bytes`)
      const keys = keysIn(answer.toString())
      return keys === undefined || keys === 0
        ? broken(`${jwt.jwksUrl} answers no JSON with keys`, todo)
        : ok(`${counted(keys, "key")} at ${jwt.jwksUrl}`)
    } catch (error) {
      const { cause, message } = error as Error
      return broken(`${jwt.jwksUrl} cannot be fetched: ${cause instanceof Error && cause.message !== "" ? cause.message : message}`, todo)
    }
  })
}

const keysIn = (text: string): number | undefined => {
  try {
    const { keys } = JSON.parse(text) as { readonly keys?: unknown }
    return Array.isArray(keys) ? keys.length : undefined
  } catch {
    return undefined
  }
}

/** Opens the places as a start does. */
export const documentsFinding = (config: Pick<ServerConfig, "documents" | "documentsAlso" | "s3Endpoint">): Effect.Effect<Finding> => {
  const { documents, documentsAlso, s3Endpoint } = config
  const places = [documents, ...(documentsAlso === undefined ? [] : [documentsAlso])]
  const warnings: Array<string> = []
  const heard = Logger.layer([Logger.make(({ message }) => void warnings.push([message].flat().join(" ")))])
  const database = Layer.merge(
    Layer.succeed(Transaction, Transaction.of({ run: (effect) => effect, handle: Effect.void })),
    // the database has a finding of its own
    Layer.mock(DocumentContents, {})
  )
  const opened = Effect.forEach(places, (place) => Layer.build(Layer.provide(placeLayer(place, s3Endpoint), database)), { discard: true })
  return Effect.scoped(opened).pipe(
    Effect.provide(heard),
    Effect.andThen(Effect.promise(() => documents.kind === "directory" ? fullDiskOf(documents.path) : Promise.resolve(undefined))),
    Effect.match({
      onFailure: (error) => broken(error.message, "The server does not start otherwise."),
      onSuccess: (full) => {
        if (warnings.length > 0) return broken(warnings.join(" "), "Start the store, or correct WAYBILL_S3_ENDPOINT.")
        if (full !== undefined) return broken(full, "Free space on it. Uploads answer 503 until then; downloads work.")
        return ok(places.map((place) => place.kind === "postgres" ? "in the database" : documentsText(place)).join(", also "))
      }
    })
  )
}
