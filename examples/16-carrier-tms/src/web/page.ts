/** The frame of every page. */
import type { FastifyReply } from "fastify"
import type { User } from "../accounts/sessions.ts"
import { carrier } from "../freight/principals.ts"
import { type Html, html } from "./html.ts"

export interface Page {
  readonly title: string
  readonly user: User | undefined
  readonly body: Html
}

const dispatcherLinks = html`<a href="/">Board</a> <a href="/book">Book a shipment</a> <a href="/pickups">Pickup orders</a>`
const customerLinks = html`<a href="/">Your freight</a> <a href="/webhooks">Webhooks</a>`

const frame = ({ body, title, user }: Page): Html =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – ${carrier.name}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<strong>${carrier.name}</strong>
${user !== undefined && html`<nav aria-label="Main">${user.customer === undefined ? dispatcherLinks : customerLinks}</nav>
<form method="post" action="/logout"><span>${user.name}${user.customer !== undefined && `, ${user.customer.name}`}</span> <button>Log out</button></form>`}
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`

/** Pages have no script, so none may run. */
const policy = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

export const sendPage = (reply: FastifyReply, page: Page, status = 200): FastifyReply =>
  reply.code(status).headers({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store"
  }).send(frame(page).text)

export const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: #8886; --accent: light-dark(#14507a, #8cc8f2) }
body { margin: 0 auto; max-width: 70rem; padding: 0 1rem 3rem }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding: .75rem 0; border-bottom: 1px solid var(--line) }
header nav { flex: 1 }
nav a { margin-right: 1rem }
a { color: var(--accent) }
.skip, .unseen { position: absolute; left: -100rem }
.skip:focus { left: 1rem; top: .5rem }
table { border-collapse: collapse; width: 100% }
caption { text-align: left; font-weight: 600; padding: .5rem 0 }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line) }
td.number { text-align: right; font-variant-numeric: tabular-nums }
form.fields { display: grid; gap: .75rem; max-width: 30rem }
fieldset { border: 1px solid var(--line); display: grid; gap: .75rem }
label { display: grid; gap: .2rem }
input, select, button { font: inherit; padding: .3rem .5rem }
button { border: 1px solid var(--accent); border-radius: .3rem; background: var(--accent); color: light-dark(#fff, #10202c); cursor: pointer }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
[role=alert], [role=status] { border-left: .3rem solid var(--accent); padding: .5rem 1rem }
[role=alert] { border-color: light-dark(#a3261b, #ff9d94) }
code { overflow-wrap: anywhere }
`
