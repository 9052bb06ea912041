/** Options of freight charges, with defaults. */
import { Context, DateTime, Layer, Option } from "effect"

/** Needs no lookup in the time zone database. */
const utc = "UTC"

/** Options of freight charges. The time zone is UTC by default. */
export class FreightChargeOptions extends Context.Reference<{
  /** IANA name of the time zone whose full hours and midnights close hourly and daily windows. */
  readonly timeZone: string
}>("@waybill/core/freight-charges/FreightChargeOptions", {
  defaultValue: () => ({ timeZone: utc })
}) {
  static readonly layer = (options: { readonly timeZone?: string } = {}): Layer.Layer<never> => {
    const timeZone = options.timeZone ?? utc
    if (timeZone !== utc && Option.isNone(DateTime.zoneMakeNamed(timeZone))) {
      throw new RangeError(`${timeZone} is not an IANA time zone. Use a name such as America/Chicago.`)
    }
    return Layer.succeed(FreightChargeOptions, { timeZone })
  }
}
