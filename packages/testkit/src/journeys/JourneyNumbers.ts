/** Ids of journeys in one service, which must differ. */
import type { NumberedJourney, StartJourneyOptions } from "./startJourney.ts"

const firstProNumber = 418_367_745

export class JourneyNumbers {
  readonly #taken = new Set<string>()

  /** Adds the ids that are missing: `S-1` and `0418367745` for the first journey, then the next free ones. */
  completed(options: StartJourneyOptions): NumberedJourney {
    this.#checkFree("shipmentId", options.shipmentId)
    this.#checkFree("proNumber", options.proNumber)
    return {
      ...options,
      shipmentId: options.shipmentId ?? this.#free((n) => `S-${n + 1}`),
      proNumber: options.proNumber ?? this.#free((n) => String(firstProNumber + n).padStart(10, "0"))
    }
  }

  take({ proNumber, shipmentId }: NumberedJourney): void {
    this.#taken.add(shipmentId).add(proNumber)
  }

  #free(idOf: (n: number) => string): string {
    let n = 0
    while (this.#taken.has(idOf(n))) n += 1
    return idOf(n)
  }

  #checkFree(member: string, id: string | undefined): void {
    if (id !== undefined && this.#taken.has(id)) throw new RangeError(`Another journey of this service has the ${member} ${id}. Give another one, or none.`)
  }
}
