/** Receivers and the wire to them: when a request arrives, what is made of it, and whether the answer comes back. */
import { AttemptOutcome, type WebhookRequest, type WebhookSender } from "@waybill/core"
import { Effect } from "effect"
import { type Post, PostAudit, type Sha256 } from "./PostAudit.ts"
import type { Ledger } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

/** What a receiver does with requests. `lossy`: it accepts, and most answers get lost. `moody`: it accepts, fails or hangs. */
export type Manner = "accepts" | "fails" | "busy" | "gone" | "hangs" | "refuses" | "lossy" | "moody"

const quick = [1, 1, 2, 5, 20, 80]

export class Receivers {
  private readonly simulation: SimulationContext
  private readonly audit: PostAudit
  private readonly manners = new Map<string, { readonly manner: Manner; readonly until: number }>()
  private slow: number

  /** `slow`: the share of answers that take their time, some longer than anybody waits. `undisturbed`: nothing but receivers misbehaves. */
  constructor(simulation: SimulationContext, ledger: Ledger, sha256: Sha256, { slow, undisturbed }: { readonly slow: number; readonly undisturbed: boolean }) {
    this.simulation = simulation
    this.slow = slow
    this.audit = new PostAudit(simulation, ledger, sha256, undisturbed)
  }

  /** The receiver of a lane behaves so for a while. */
  behave(lane: string, manner: Manner, millis: number): void {
    this.manners.set(lane, { manner, until: this.simulation.now + millis })
  }

  clear(): void {
    this.slow = 0
    this.manners.clear()
  }

  /** The transport as this process has it; by callbacks or by fibers. */
  senderOf(process: WorkerProcess, byCallbacks: boolean): WebhookSender["Service"] {
    const start = (request: WebhookRequest, settle: (outcome: AttemptOutcome) => void) => this.post(process, request, settle)
    const send = (request: WebhookRequest) =>
      Effect.callback<AttemptOutcome>((resume) => {
        const abort = this.post(process, request, (outcome) => resume(Effect.succeed(outcome)))
        return Effect.sync(abort)
      })
    return { send, refusal: () => undefined, ...(byCallbacks ? { start } : {}) }
  }

  private post(process: WorkerProcess, request: WebhookRequest, settle: (outcome: AttemptOutcome) => void): () => void {
    const { simulation } = this
    if (!process.reaches()) return () => {}
    const post = this.audit.posted(process.name, request, process)
    if (post === undefined) return () => {}
    if (simulation.trace) simulation.note(process.name, `posts ${post.delivery.id} to ${post.delivery.lane.name}${post.delivery.posts > 1 ? `, time ${post.delivery.posts}` : ""}`)
    let over = false
    const end = (outcome: AttemptOutcome) => {
      if (over) return
      over = true
      process.outcomes.set(post.permit, { outcome, tries: post.tries, url: request.url })
      const { flights } = post.delivery.lane
      flights.set(post.token, flights.get(post.token)! - 1)
      if (outcome._tag === "Interrupted") return
      if (simulation.trace) simulation.note(process.name, `is answered ${outcome._tag === "Failed" ? outcome.failure : outcome._tag} for ${post.delivery.id}`)
      settle(outcome)
    }
    this.travel(process, request, post, end)
    return () => end(AttemptOutcome.Interrupted())
  }

  private travel(process: WorkerProcess, request: WebhookRequest, post: Post, end: (outcome: AttemptOutcome) => void): void {
    const { random } = this.simulation
    const timeout = AttemptOutcome.Failed({ failure: "timeout", detail: "No answer." })
    this.simulation.after(request.deadlineMillis, () => end(timeout), process)
    const thither = random.pick(quick)
    if (this.mannerOf(post) === "refuses") {
      this.simulation.after(thither, () => end(AttemptOutcome.Failed({ failure: "connect_refused", detail: "Refused." })), process)
      return
    }
    this.simulation.after(thither, () => {
      const { millis, outcome } = this.answerOf(post)
      if (this.simulation.trace) this.simulation.note("receiver", `${post.delivery.lane.name} ${outcome === undefined ? "says nothing to" : outcome._tag === "Failed" ? `fails ${outcome.failure}` : outcome._tag} ${post.delivery.id}`)
      if (outcome?._tag === "Accepted") {
        post.delivery.accepted += 1
        for (const entry of post.delivery.entries) entry.passed = true
      }
      if (outcome === undefined || millis === undefined) {
        this.simulation.counts.drops += 1
        return
      }
      if (millis + thither < request.deadlineMillis) this.simulation.after(millis, () => end(outcome), process)
    })
  }

  private mannerOf({ delivery: { lane } }: Post): Manner {
    const own = this.manners.get(lane.name)
    return own === undefined || own.until <= this.simulation.now ? "accepts" : own.manner
  }

  /** `millis`: how long the answer takes; none when it gets lost. */
  private answerOf(post: Post): { readonly outcome?: AttemptOutcome; readonly millis?: number } {
    const { random } = this.simulation
    const millis = this.slow > 0 && random.share(this.slow) ? random.between(100, 1500) : random.pick(quick)
    const accepted = AttemptOutcome.Accepted({ status: 200, excerpt: "" })
    switch (this.mannerOf(post)) {
      case "accepts":
      case "refuses":
        return { outcome: accepted, millis }
      case "fails":
        return { outcome: AttemptOutcome.Failed({ failure: "http_5xx", status: 500, detail: "500" }), millis }
      case "busy":
        return { outcome: AttemptOutcome.Failed({ failure: "http_429", status: 429, detail: "429", retryAfterSeconds: random.pick([0, 1, 3, 60]) }), millis }
      case "gone":
        return { outcome: AttemptOutcome.Gone({ status: 410, excerpt: "" }), millis }
      case "hangs":
        return {}
      case "lossy":
        return random.share(0.7) ? { outcome: accepted } : { outcome: accepted, millis }
      case "moody": {
        const mood = random.next()
        if (mood < 0.25) return {}
        return { outcome: mood < 0.6 ? accepted : AttemptOutcome.Failed({ failure: "http_5xx", status: 503, detail: "503" }), millis }
      }
    }
  }
}
