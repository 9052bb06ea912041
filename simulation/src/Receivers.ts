/** Receivers and the network to them: when a request arrives, how it is answered, and whether the answer arrives. */
import { AttemptOutcome, type HmacSha256, type WebhookRequest, type WebhookSender } from "@waybill/core/delivery"
import { type Post, PostAudit } from "./PostAudit.ts"
import type { Ledger } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

/** How a receiver answers. `lossy`: it accepts, and most answers are lost. `mixed`: it accepts, fails or hangs. */
export type ReceiverBehaviour = "accepts" | "fails" | "busy" | "gone" | "hangs" | "refuses" | "lossy" | "mixed"

const quick = [1, 1, 2, 5, 20, 80]

export class Receivers {
  private readonly simulation: SimulationContext
  private readonly audit: PostAudit
  private readonly behaviours = new Map<string, { readonly behaviour: ReceiverBehaviour; readonly until: number }>()
  private slow: number

  /** `slow`: the share of slow answers, some beyond the deadline. `onlyReceiversFail`: processes, store and network have no faults. */
  constructor(simulation: SimulationContext, ledger: Ledger, sha256: HmacSha256, { slow, onlyReceiversFail }: { readonly slow: number; readonly onlyReceiversFail: boolean }) {
    this.simulation = simulation
    this.slow = slow
    this.audit = new PostAudit(simulation, ledger, sha256, onlyReceiversFail)
  }

  /** Sets how a destination's receiver answers for some time. */
  behave(destination: string, behaviour: ReceiverBehaviour, millis: number): void {
    this.behaviours.set(destination, { behaviour, until: this.simulation.now + millis })
  }

  clear(): void {
    this.slow = 0
    this.behaviours.clear()
  }

  /** The transport of a process. */
  senderOf(process: WorkerProcess): WebhookSender["Service"] {
    return { start: (request, settle) => this.post(process, request, settle), refusal: () => undefined }
  }

  private post(process: WorkerProcess, request: WebhookRequest, settle: (outcome: AttemptOutcome) => void): () => void {
    const { simulation } = this
    if (!process.beginEffect()) return () => {}
    const post = this.audit.posted(process, request)
    if (post === undefined) return () => {}
    if (simulation.trace) simulation.note(process.name, `posts ${post.delivery.id} to ${post.delivery.destination.name}${post.delivery.posts > 1 ? `, time ${post.delivery.posts}` : ""}`)
    let over = false
    const end = (outcome: AttemptOutcome) => {
      if (over) return
      over = true
      process.outcomes.set(post.permit, { outcome, tries: post.tries, url: request.url, at: simulation.storeNow })
      const { destination } = post.delivery
      const isOwn = destination.inFlight.get(post.permit) === destination.partition.ownership
      destination.inFlight.delete(post.permit)
      if (isOwn && outcome._tag === "Accepted") destination.recovered = true
      if (outcome._tag === "Interrupted") return
      if (simulation.trace) simulation.note(process.name, `is answered ${outcome._tag === "Failed" ? outcome.failure : outcome._tag} for ${post.delivery.id}`)
      settle(outcome)
    }
    this.travel(process, request, post, end)
    return () => end(AttemptOutcome.Interrupted({}))
  }

  private travel(process: WorkerProcess, request: WebhookRequest, post: Post, end: (outcome: AttemptOutcome) => void): void {
    const { random } = this.simulation
    const timeout = AttemptOutcome.Failed({ failure: "timeout", detail: "No answer." })
    this.simulation.after(request.deadlineMillis, () => end(timeout), process)
    const requestMillis = random.pick(quick)
    if (this.behaviourOf(post) === "refuses") {
      this.simulation.after(requestMillis, () => end(AttemptOutcome.Failed({ failure: "connect_refused", detail: "Refused." })), process)
      return
    }
    this.simulation.after(requestMillis, () => {
      const { millis, outcome } = this.answerOf(post)
      if (this.simulation.trace) this.simulation.note("receiver", `${post.delivery.destination.name} ${outcome === undefined ? "does not answer" : outcome._tag === "Failed" ? `fails ${outcome.failure}` : outcome._tag} ${post.delivery.id}`)
      if (outcome?._tag === "Accepted") {
        post.delivery.accepted += 1
        for (const entry of post.delivery.entries) entry.passed = true
      }
      if (outcome === undefined || millis === undefined) {
        this.simulation.counts.drops += 1
        return
      }
      if (millis + requestMillis < request.deadlineMillis) this.simulation.after(millis, () => end(outcome), process)
    })
  }

  private behaviourOf({ delivery: { destination } }: Post): ReceiverBehaviour {
    const own = this.behaviours.get(destination.name)
    return own === undefined || own.until <= this.simulation.now ? "accepts" : own.behaviour
  }

  /** `millis`: how long the answer takes; missing if the answer is lost. */
  private answerOf(post: Post): { readonly outcome?: AttemptOutcome; readonly millis?: number } {
    const { random } = this.simulation
    const millis = this.slow > 0 && random.share(this.slow) ? random.between(100, 1500) : random.pick(quick)
    const accepted = AttemptOutcome.Accepted({ status: 200, excerpt: "" })
    switch (this.behaviourOf(post)) {
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
      case "mixed": {
        const mood = random.next()
        if (mood < 0.25) return {}
        return { outcome: mood < 0.6 ? accepted : AttemptOutcome.Failed({ failure: "http_5xx", status: 503, detail: "503" }), millis }
      }
    }
  }
}
