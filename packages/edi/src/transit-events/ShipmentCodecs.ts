/** Codecs of 214: routing and equipment. */
import { coded, type Codec, decimal, isWrong } from "../mapping/Codec.ts"
import { own } from "../mapping/Members.ts"

/** Element 91, MS3-04. */
const modes: Readonly<Record<string, string>> = { LT: "LTL", M: "FTL", A: "AIR", R: "RAIL", S: "OCEAN", O: "OCEAN", X: "INTERMODAL", U: "PARCEL" }

/** Members: partnerCarrierScac, mode. Elements: MS3-01, 02, 04. */
export const routing: Codec = {
  note: `${coded(modes).note}; M is the mode of the partner profile if it has one; a carrier other than B10-03 is the partner of an interline shipment`,
  read: ([scac = "", , mode = ""], { keep, look, partner }) => {
    const found = mode === "M" && partner.mode !== undefined ? partner.mode : own(modes, mode)
    if (mode !== "" && found === undefined) keep(2)
    return [scac === look("B10", 3) ? undefined : scac, found]
  },
  write: ([carrier, mode], { lose, look, partner }) => {
    const own = look("shipment.scac")
    const code = mode === undefined || mode === partner.mode ? undefined : Object.keys(modes).find((each) => modes[each] === mode)
    if (mode !== undefined && code === undefined && mode !== partner.mode) lose(1, "it has no code")
    const scac = typeof carrier === "string" ? carrier : code === undefined ? undefined : own
    if (typeof scac !== "string") return mode === undefined || mode !== partner.mode ? undefined : []
    if (scac.length < 2 || scac.length > 4) {
      lose(0, "the element has 2 to 4 letters")
      return undefined
    }
    return [scac, carrier === undefined ? "B" : "1", code ?? ""]
  }
}

/** Members: equipmentOwner, trailerNumber. Elements: MS2-01, 02. */
export const equipment: Codec = {
  note: "the owner is a member if it is not the carrier",
  read: ([owner = "", number = ""], { look }) => [owner === look("B10", 3) || owner === "" ? undefined : owner, number || undefined],
  write: ([owner, number], { lose, look }) => {
    if (typeof number !== "string") return undefined
    const scac = owner ?? look("shipment.scac")
    if (typeof scac === "string" && scac.length >= 2 && scac.length <= 4 && number.length <= 10 && number.length > 0) return [scac, number]
    lose(1, "the element has at most 10 characters, and needs an owner of 2 to 4 letters")
    return undefined
  }
}

const weightUnits = coded({ L: "Pounds", K: "Kilograms" })

/** Members: weightUnit, weight. Elements: AT8-02, 03. */
export const grossWeight: Codec = {
  note: `${weightUnits.note}; a weight in another unit is kept`,
  read: ([unit = "", value = ""], context) => {
    const [known] = unit === "" ? [""] : weightUnits.read([unit], context) as ReadonlyArray<unknown>
    if (known === undefined) {
      context.keep(1)
      return [undefined, undefined]
    }
    const weight = decimal(10).read([value], context)
    return isWrong(weight) ? { ...weight, wrong: 1 } : [known || undefined, ...weight]
  },
  write: ([unit, value], context) => {
    const [code] = weightUnits.write([unit], context) ?? []
    const [weight] = decimal(10).write([value], { ...context, lose: (_, reason) => context.lose(1, reason) }) ?? []
    return code === undefined && weight === undefined ? undefined : [code ?? "", weight ?? ""]
  }
}
