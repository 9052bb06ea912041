/** `waybill listen`: a local receiver that verifies deliveries and prints them. */
import { type DeliveryContent, DeliveryReceiver, type DeliveryReceiverOptions, SeenInMemory, SequencesInMemory, WebhookSecretUnusable } from "@waybill/client"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { failed, usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printProgress, whileRead } from "./shared/Output.ts"
import { printable } from "../Printable.ts"
import { chargeText, eventText, noticeText, pickupText, statusText } from "./shared/ReceivedLines.ts"
import { secretFlags, secretsFrom } from "./shared/WebhookSecrets.ts"

/** Freight charges of a whole day may be large. */
const mostBytes = 32 * 1024 * 1024

/** A received request and its response. */
interface Reception {
  readonly deliveryId: string | null
  readonly verdict: "taken" | "duplicate" | "refused"
  readonly kind: DeliveryContent["kind"] | null
  readonly signed: boolean
  readonly status: number
  readonly contents: ReadonlyArray<string>
  /** Why it was refused, or warnings about an accepted delivery. */
  readonly remarks: ReadonlyArray<string>
}

type Taken = Pick<Reception, "kind" | "signed" | "contents" | "remarks">

const receiverOf = (options: Pick<DeliveryReceiverOptions, "secrets" | "unsigned" | "seen" | "sequences">, taken: (what: Taken) => void) =>
  new DeliveryReceiver({
    ...options,
    mostBytes,
    onEvents: (events, { duplicates, order }) =>
      taken({
        kind: "events",
        signed: true,
        contents: events.map(eventText),
        remarks: [
          ...(duplicates.length === 0 ? [] : [`${counted(duplicates.length, "event")} came before`]),
          ...order.missing.map(({ from, shipmentId, to }) => printable(`${shipmentId} lacks ${from === to ? `#${from}` : `#${from} to #${to}`}`)),
          ...order.late.map((event) => `${eventText(event)} comes late`),
          ...order.outOfOrder.map((event) => `${eventText(event)} is out of order`),
          ...order.repeated.map((event) => `${eventText(event)} has the number of another event`)
        ]
      }),
    onStatus: (notification, { signed }) => taken({ kind: "status", signed, contents: [statusText(notification)], remarks: [] }),
    onCharges: (charges, { signed }) => taken({ kind: "charges", signed, contents: charges.map(chargeText), remarks: [] }),
    onPickups: (changes, { signed }) => taken({ kind: "pickups", signed, contents: changes.map(pickupText), remarks: [] }),
    onNotice: (notice, { signed }) => taken({ kind: "notice", signed, contents: [noticeText(notice)], remarks: [] }),
    onTest: ({ message }, { signed }) => taken({ kind: "test", signed, contents: [printable(message)], remarks: [] })
  })

const textOf = ({ contents, deliveryId, kind, remarks, signed, status, verdict }: Reception): string => {
  const id = deliveryId ?? "a request"
  const head = verdict === "taken"
    ? `✓ ${signed ? "signed" : "unsigned"} ${kind} ${id}`
    : verdict === "duplicate"
    ? `= ${id} is a duplicate`
    : `✗ ${id} is refused`
  return [`${head}, answered ${status}`, ...contents.map((line) => `    ${line}`), ...remarks.map((line) => `    ! ${line}`)].join("\n")
}

const bodyOf = async (request: IncomingMessage): Promise<Uint8Array> => {
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    // one byte too many is enough for the receiver to refuse it by its size
    const part = chunk.subarray(0, mostBytes + 1 - length)
    if (part.length > 0) chunks.push(part)
    length += part.length
  }
  return Buffer.concat(chunks)
}

const listenOn = (server: Server, host: string, port: number) =>
  Effect.callback<number, ReturnType<typeof failed>>((resume) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(failed(error.code === "EADDRINUSE" ? `Port ${port} on ${host} is taken. Give another --port.` : `It cannot listen on ${host}: ${error.message}.`))))
    server.listen(port, host, () => resume(Effect.succeed((server.address() as AddressInfo).port)))
  })

export const listenCommand = Command.make(
  "listen",
  {
    port: Flag.Int("port").pipe(Flag.withDescription("Port to listen on; default 0: a free port, which is printed"), Flag.withDefault(0)),
    host: Flag.String("host").pipe(Flag.withDescription("Address to listen on; default 127.0.0.1, this machine only"), Flag.withDefault("127.0.0.1")),
    ...secretFlags,
    unsigned: Flag.Boolean("unsigned").pipe(Flag.withDescription("Also accept statuses and charges without a signature"), Flag.withDefault(false)),
    answer: Flag.Int("answer").pipe(Flag.withDescription("Answer every delivery with this status, such as 503 or 410, to test the server's reaction"), Flag.optional),
    json: jsonFlag
  },
  (flags) =>
    Effect.scoped(Effect.gen(function*() {
      if (flags.port < 0 || flags.port > 65_535) return yield* usageError("--port is a number from 0 to 65535.")
      const given = Option.getOrUndefined(flags.answer)
      if (given !== undefined && !(given >= 200 && given <= 599)) return yield* usageError("--answer is an HTTP status from 200 to 599.")
      const secrets = yield* secretsFrom(flags)
      if (secrets.length === 0 && !flags.unsigned) {
        return yield* usageError("No secret given. Set WAYBILL_WEBHOOK_SECRET, give --secret-file, or accept unsigned deliveries with --unsigned.")
      }
      const options = { ...(secrets.length === 0 ? {} : { secrets }), unsigned: flags.unsigned ? "accept" : "refuse" } as const
      let taken: Taken | undefined
      const makeReceiver = (memory: Pick<DeliveryReceiverOptions, "seen" | "sequences">) =>
        Effect.try({
          try: () => receiverOf({ ...options, ...memory }, (what) => void (taken = what)),
          catch: (error) => error instanceof WebhookSecretUnusable ? usageError(error.message) : failed(String(error))
        })
      const memory = { seen: new SeenInMemory(), sequences: new SequencesInMemory() }
      const receiver = yield* makeReceiver(memory)

      /** One request at a time, so that `taken` belongs to this request. */
      const receive = async (request: IncomingMessage): Promise<{ readonly reception: Reception; readonly body: string; readonly headers: Readonly<Record<string, string>> }> => {
        const body = await bodyOf(request)
        taken = undefined
        // With an error as the configured answer, the delivery was not accepted, so it must not count as a duplicate
        // when it is retried.
        const judge = given === undefined || (given >= 200 && given < 300) ? receiver : receiverOf({ ...options, seen: new SeenInMemory(), sequences: false }, (what) => void (taken = what))
        const answer = request.method === "POST"
          ? await judge.answer({ headers: request.headers, body })
          : { status: 405, headers: { allow: "POST" }, body: JSON.stringify({ detail: "Deliveries are POSTed." }) }
        const found = taken as Taken | undefined
        const isGood = answer.status >= 200 && answer.status < 300
        const { "webhook-id": id } = request.headers
        const reception: Reception = {
          deliveryId: typeof id === "string" ? printable(id).slice(0, 300) : null,
          verdict: !isGood ? "refused" : found === undefined ? "duplicate" : "taken",
          kind: found?.kind ?? null,
          signed: found?.signed ?? false,
          status: given ?? answer.status,
          contents: found?.contents ?? [],
          remarks: isGood ? found?.remarks ?? [] : [printable((JSON.parse(answer.body) as { readonly detail: string }).detail)]
        }
        return given === undefined ? { reception, body: answer.body, headers: answer.headers } : { reception, body: "", headers: {} }
      }

      let last: Promise<unknown> = Promise.resolve()
      const server = createServer((request, response) => {
        const mine = last.then(() => receive(request))
        last = mine.then(({ body, headers, reception }) => {
          process.stdout.write(`${flags.json ? JSON.stringify({ at: new Date().toISOString(), ...reception }) : textOf(reception)}\n`)
          response.writeHead(reception.status, headers).end(body)
        }).catch(() => void response.destroy())
      })
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        }))
      const port = yield* listenOn(server, flags.host, flags.port)
      const host = flags.host.includes(":") ? `[${flags.host}]` : flags.host
      yield* printProgress(`Listening on http://${host}:${port}. A server accepts it as endpointUrl if it runs with WAYBILL_EGRESS_ALLOW=${flags.host}. Ctrl-C ends it.`)
      return yield* whileRead(Effect.never)
    }))
).pipe(
  Command.withDescription("Receive webhooks on this machine: verify them, and print their content, duplicates and gaps"),
  Command.withExamples([
    { command: "waybill listen --port 4000 --secret-file webhook-secret", description: "A local receiver for a subscription" },
    { command: "waybill listen --port 4000 --unsigned --answer 503", description: "A failing receiver, to see retries and dead letters" }
  ])
)
