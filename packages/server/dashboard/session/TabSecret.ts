/** A secret that a page keeps for its tab, and that the browser removes with the tab. */

export interface TabSecret {
  readonly read: () => string | undefined
  /** Without storage, the secret lasts until the page is reloaded. */
  readonly write: (secret: string | undefined) => void
}

export const tabSecret = (name: string): TabSecret => ({
  read: () => {
    try {
      return sessionStorage.getItem(name) ?? undefined
    } catch {
      return undefined
    }
  },
  write: (secret) => {
    try {
      if (secret === undefined) sessionStorage.removeItem(name)
      else sessionStorage.setItem(name, secret)
    } catch {
      // Without storage there is nothing to remove either.
    }
  }
})
