/** A browser without a screen: it keeps the session cookie and follows redirects. */
export interface Shown {
  readonly status: number
  readonly text: string
}

export class Browser {
  readonly #send: (path: string, init: RequestInit) => Promise<Response>
  /** The last cookie that was set, with its attributes. */
  setCookie = ""

  /** `send` makes a request of this application, over the network or in memory. */
  constructor(send: (path: string, init: RequestInit) => Promise<Response>) {
    this.#send = send
  }

  static at = (address: string): Browser => new Browser((path, init) => fetch(address + path, { ...init, redirect: "manual" }))

  async get(path: string): Promise<Shown> {
    return this.#shown(await this.#send(path, { headers: this.#headers() }))
  }

  /** Sends a form. */
  async submit(path: string, fields: Readonly<Record<string, string | number>> = {}, headers: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const body = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString()
    return this.#shown(await this.#send(path, { method: "POST", body, headers: { ...this.#headers(), "content-type": "application/x-www-form-urlencoded", ...headers } }))
  }

  logIn(user: { readonly email: string; readonly password: string }): Promise<Shown> {
    return this.submit("/login", user)
  }

  #headers(): Record<string, string> {
    return this.setCookie === "" ? {} : { cookie: this.setCookie.split(";")[0]! }
  }

  async #shown(response: Response): Promise<Shown> {
    this.setCookie = response.headers.get("set-cookie") ?? this.setCookie
    const location = response.headers.get("location")
    if (location === null) return { status: response.status, text: await response.text() }
    await response.body?.cancel()
    return this.get(location)
  }
}
