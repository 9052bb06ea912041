/** How freight charges behave: one record of defaults, overridden where it differs. */
import { Context, DateTime, Layer, Option } from "effect"

export class FreightChargeOptions extends Context.Reference<{
  /** IANA name of the zone whose hours and midnights close the windows of slow cadences. */
  readonly timeZone: string
}>("@waybill/core/freight-charges/FreightChargeOptions", {
  defaultValue: () => ({ timeZone: "UTC" })
}) {
  static readonly layer = (options: { readonly timeZone?: string } = {}): Layer.Layer<never> => {
    const timeZone = options.timeZone ?? "UTC"
    if (Option.isNone(DateTime.zoneMakeNamed(timeZone))) {
      throw new RangeError(`${timeZone} is no time zone of the IANA database. Use a name such as America/Chicago.`)
    }
    return Layer.succeed(FreightChargeOptions, { timeZone })
  }
}
