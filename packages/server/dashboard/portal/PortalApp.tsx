/** The portal's page: checks the session first, then shows the view of the route. */
import { WaybillProblem } from "@waybill/client/connection"
import type { PortalSession } from "@waybill/client/portal"
import type { ComponentChildren } from "preact"
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import { Shown } from "../parts/Shown.tsx"
import { When } from "../parts/When.tsx"
import { relativeText } from "../model/time.ts"
import { useAppState } from "../session/Context.ts"
import { isKeyRefused, sentenceOf, serverNow } from "../session/Server.ts"
import { forgetAnswers } from "../session/usePolled.ts"
import { useRoute } from "../session/useRoute.ts"
import { Shell } from "../views/Shell.tsx"
import { hashOf, placeOf, type Route, routeOf } from "./routes.ts"
import { forgetToken, isLink, portalClient, takeToken } from "./session.ts"
import { SessionContext } from "./SessionContext.ts"
import { applyTheme, logoOf } from "./theme.ts"
import { hasKept } from "./useKept.ts"
import { View } from "./View.tsx"

type Opened =
  | { readonly state: "opening" }
  | { readonly state: "open"; readonly session: PortalSession }
  | { readonly state: "refused"; readonly failure: unknown }
  | { readonly state: "failed"; readonly failure: unknown }

export const PortalApp = () => {
  const [token, setToken] = useState(() => takeToken())
  const client = useMemo(() => portalClient(token), [token])
  const [opened, setOpened] = useState<Opened>({ state: "opening" })
  const [tries, setTries] = useState(0)

  useEffect(() => {
    const take = ({ oldURL }: HashChangeEvent) => {
      if (!isLink()) return
      forgetAnswers()
      setOpened({ state: "opening" })
      // back to what was kept
      setToken(takeToken(hasKept() ? new URL(oldURL).hash : undefined))
      // it may be the same link
      setTries((tries) => tries + 1)
    }
    addEventListener("hashchange", take)
    return () => removeEventListener("hashchange", take)
  }, [])

  const refuse = useCallback((failure: unknown) => {
    if (!isForbidden(failure)) forgetToken()
    forgetAnswers()
    setOpened({ state: "refused", failure })
  }, [])

  useEffect(() => {
    const asking = new AbortController()
    client.session({ signal: asking.signal }).then(
      (session) => {
        applyTheme(session.theme)
        setOpened({ state: "open", session })
      },
      (failure: unknown) => {
        if (asking.signal.aborted) return
        if (isKeyRefused(failure)) refuse(failure)
        else setOpened({ state: "failed", failure })
      }
    )
    return () => asking.abort()
  }, [client, tries, refuse])

  const again = () => {
    setOpened({ state: "opening" })
    setTries(tries + 1)
  }
  switch (opened.state) {
    case "opening":
      return <main class="notice"><p aria-busy="true">Opening …</p></main>
    case "open":
      return <Open key={token} client={client} session={opened.session} refuse={refuse} />
    case "refused":
      return <Refused hadLink={token !== undefined} failure={opened.failure} again={again} />
    case "failed":
      return (
        <Notice title="Cannot be opened">
          <p role="alert" class="failure"><Shown text={sentenceOf(opened.failure)} /></p>
          <button type="button" onClick={again}>Try again</button>
        </Notice>
      )
  }
}

/** A message in place of the page. Its heading gets the focus, because what had it may be gone. */
const Notice = ({ children, title }: { readonly title: string; readonly children: ComponentChildren }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = title
    heading.current?.focus()
  }, [title])
  return (
    <main class="notice">
      <h1 ref={heading} tabIndex={-1}>{title}</h1>
      {children}
    </main>
  )
}

/** The credential itself is good, such as a link of a suspended tenant, which works again when the tenant does. */
const isForbidden = (failure: unknown): boolean => failure instanceof WaybillProblem && failure.status === 403

const Refused = ({ again, failure, hadLink }: { readonly hadLink: boolean; readonly failure: unknown; readonly again: () => void }) => {
  if (isForbidden(failure)) {
    return (
      <Notice title="No access">
        <p role="alert" class="failure"><Shown text={sentenceOf(failure)} /></p>
        {hasKept() && <p>What you typed, or a new secret, is kept while this tab shows this page.</p>}
        <button type="button" onClick={again}>Try again</button>
      </Notice>
    )
  }
  return hadLink
    ? (
      <Notice title="This link does not work any more">
        <p role="alert">It has ended, or the access that it belongs to was removed. Ask the company that sent it for a new link, and open that one.</p>
        {hasKept() && <p>What you typed, or a new secret, is kept while this tab shows this page: paste the new link into its address bar to go on.</p>}
      </Notice>
    )
    : (
      <Notice title="Open this page with a link">
        <p role="alert">This page shows the webhooks of one customer. Ask the company that sends them for a link, or sign in on its own site first.</p>
        {hasKept() && <p>What you typed, or a new secret, is kept while this tab shows this page: sign in in another tab, and try again here.</p>}
        <button type="button" onClick={again}>Try again</button>
      </Notice>
    )
}

const Open = ({ client, refuse, session }: { readonly client: unknown; readonly session: PortalSession; readonly refuse: (failure: unknown) => void }) => {
  const route = useRoute<Route>({ routeOf, headingOf: placeOf })
  return (
    <SessionContext.Provider value={session}>
      <Shell pausable={false} client={client} place={placeOf(route)} keyRefused={refuse} header={(status) => <Header route={route} session={session}>{status}</Header>}>
        <View route={route} />
      </Shell>
    </SessionContext.Provider>
  )
}

/** Before a link ends, screen readers are told; the header shows the time to everyone else. */
const warnedMillis = 5 * 60_000

const Header = ({ children, route, session: { client, expiresAt, theme } }: { readonly route: Route; readonly session: PortalSession; readonly children: ComponentChildren }) => {
  const { announce } = useAppState()
  useEffect(() => {
    if (expiresAt === null) return
    const tell = () => announce(`The link ends ${relativeText(expiresAt, serverNow())}. Ask for a new one, and open it in this tab.`)
    const timer = setTimeout(tell, Date.parse(expiresAt) - serverNow() - warnedMillis)
    return () => clearTimeout(timer)
  }, [expiresAt])
  const logo = logoOf(theme)
  const sections = [
    { name: "Subscriptions", to: hashOf({ view: "subscriptions" }), here: route.view === "subscriptions" || route.view === "subscription" },
    { name: "Deliveries", to: hashOf({ view: "deliveries" }), here: route.view === "deliveries" || route.view === "delivery" },
    { name: "Secrets", to: hashOf({ view: "secrets" }), here: route.view === "secrets" },
    { name: "Notices", to: hashOf({ view: "notices" }), here: route.view === "notices" }
  ]
  return (
    <header class="masthead">
      <div class="bar">
        {logo !== undefined && <img class="logo" src={logo} alt={theme.name ?? ""} referrerpolicy="no-referrer" />}
        {theme.name !== undefined && logo === undefined && <strong><Shown text={theme.name} /></strong>}
        <span>Webhooks of <strong><Shown text={client.replace(/^key:/, "")} /></strong></span>
        <div class="status">
          {expiresAt !== null && <small>Link ends <When brief at={expiresAt} /></small>}
          {children}
        </div>
      </div>
      <nav aria-label="Sections" class="sections">
        <ul>
          {sections.map(({ here, name, to }) => <li key={name}><a href={to} aria-current={here ? "page" : undefined}>{name}</a></li>)}
        </ul>
      </nav>
    </header>
  )
}
