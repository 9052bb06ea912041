/** Log in and log out. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { logIn, logOut } from "../accounts/sessions.ts"
import type { Parts } from "./app.ts"
import { html } from "./html.ts"
import { sendPage } from "./page.ts"

/** Undefined without a cookie. */
export const sessionTokenOf = ({ headers }: FastifyRequest): string | undefined =>
  headers.cookie?.split(";").map((each) => each.trim()).find((each) => each.startsWith("session="))?.slice("session=".length)

const credentials = {
  type: "object",
  required: ["email", "password"],
  properties: { email: { type: "string", maxLength: 200 }, password: { type: "string", maxLength: 200 } }
} as const

export const loginPages = (app: FastifyInstance, { database, secureCookies }: Pick<Parts, "database" | "secureCookies">): void => {
  /** Scripts cannot read it, and other sites' forms do not send it. */
  const setCookie = (reply: FastifyReply, value: string, seconds: number) =>
    reply.header("set-cookie", `session=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secureCookies ? "; Secure" : ""}`)
  const form = (reply: FastifyReply, failed: boolean) =>
    sendPage(reply, {
      title: "Log in",
      user: undefined,
      body: html`${failed && html`<p role="alert">E-mail address or password are wrong. After five wrong passwords, wait a minute.</p>`}
<form class="fields" method="post" action="/login">
<label>E-mail address <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button>
</form>`
    }, failed ? 401 : 200)

  app.get("/login", (_request, reply) => form(reply, false))
  app.post<{ Body: { readonly email: string; readonly password: string } }>("/login", { schema: { body: credentials } }, async (request, reply) => {
    const token = await logIn(database, request.body, new Date())
    if (token === undefined) return form(reply, true)
    return setCookie(reply, token, 12 * 3_600).redirect("/", 303)
  })
  app.post("/logout", async (request, reply) => {
    const token = sessionTokenOf(request)
    if (token !== undefined) await logOut(database, token)
    return setCookie(reply, "", 0).redirect("/login", 303)
  })
}
