/** A link that opens the portal of one client. */
import { Schema } from "effect"
import { ClientIdentity } from "../../shared/Identifier.ts"
import { decodeInput } from "../../shared/InvalidInput.ts"

/** How long a portal link works, if the operator says nothing: one hour. */
export const defaultLinkSeconds = 3_600

/** A link cannot be withdrawn by itself, so it is short. */
export const maxLinkSeconds = 86_400

const httpsUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && url.protocol === "https:" && url.username === "" && url.password === ""
}

const color = (name: string) => Schema.optionalKey(Schema.String.check(Schema.isPattern(/^#[0-9a-fA-F]{6}$/u, { message: `${name} is a color such as #0b5fff.` })))

/** The greatest rounding of buttons and fields, in pixels. */
const maxRadius = 24

/** How the page looks. Members are validated, because the page renders them: no CSS, no HTML, no address of another scheme. */
export const PortalTheme = Schema.Struct({
  name: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[^\p{Cc}\p{Cs}]*[^\s\p{Cc}\p{Cs}][^\p{Cc}\p{Cs}]*$/u, { message: "name is one line of text." }), Schema.isMaxLength(100, { message: "name has at most 100 characters." }))
  ),
  /** Buttons and links. */
  accent: color("accent"),
  background: color("background"),
  text: color("text"),
  radius: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxRadius }, { message: `radius is a number of pixels from 0 to ${maxRadius}.` }))),
  logoUrl: Schema.optionalKey(
    Schema.String.check(
      Schema.isMaxLength(500, { message: "logoUrl has at most 500 characters." }),
      Schema.makeFilter((text: string) => httpsUrl(text) || "logoUrl is an https address without credentials.")
    )
  )
}).annotate({ identifier: "PortalTheme" })
export type PortalTheme = typeof PortalTheme.Type

/** Reads a theme from a setting. Fails with every fault. */
export const decodePortalTheme = decodeInput(PortalTheme, { closed: true })

/** Body of `POST …/portal-links`. */
export const PortalLinkRequest = Schema.Struct({
  /** A bare name means `key:<name>`. */
  client: ClientIdentity,
  /** 60 to 86,400. Default: an hour. */
  expiresInSeconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: maxLinkSeconds }, { message: `expiresInSeconds is an integer from 60 to ${maxLinkSeconds}.` }))
  ),
  theme: Schema.optionalKey(PortalTheme)
}).annotate({ identifier: "PortalLinkRequest" })
