/** How freight charges behave: one record of defaults, overridden where it differs. */
import { Context, DateTime, Layer, Option } from "effect"

/** Needs no look into the database of zones. */
const utc = "UTC"

export class FreightChargeOptions extends Context.Reference<{
  /** IANA name of the zone whose hours and midnights close the windows of slow cadences. */
  readonly timeZone: string
}>("@waybill/core/freight-charges/FreightChargeOptions", {
  defaultValue: () => ({ timeZone: utc })
}) {
  static readonly layer = (options: { readonly timeZone?: string } = {}): Layer.Layer<never> => {
    const timeZone = options.timeZone ?? utc
    if (timeZone !== utc && Option.isNone(DateTime.zoneMakeNamed(timeZone))) {
      throw new RangeError(`${timeZone} is no time zone of the IANA database. Use a name such as America/Chicago.`)
    }
    return Layer.succeed(FreightChargeOptions, { timeZone })
  }
}
