/** The session of a portal, and how its page looks. */

/** Colors are written like `#0b5fff`. */
export interface PortalTheme {
  readonly name?: string
  /** Buttons and links. */
  readonly accent?: string
  readonly background?: string
  readonly text?: string
  /** Rounding of buttons and fields, in pixels: 0 to 24. */
  readonly radius?: number
  /** An `https` address. */
  readonly logoUrl?: string
}

/** Who the portal is open for, and how it looks. */
export interface PortalSession {
  readonly tenantId: string
  /** Qualified: `key:<name>` or `jwt:<issuer>:<sub>`. */
  readonly client: string
  /** When the link ends; `null` for other credentials. */
  readonly expiresAt: string | null
  readonly theme: PortalTheme
}
