/** The page: the key form first, then the view of the route. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import { headingOf, placeOf, routeOf } from "../model/routes.ts"
import { clientWith, operatorKey } from "../session/Session.ts"
import { forgetAnswers } from "../session/usePolled.ts"
import { useRoute } from "../session/useRoute.ts"
import { KeyForm } from "./KeyForm.tsx"
import { Masthead } from "./Masthead.tsx"
import { Shell } from "./Shell.tsx"
import { View } from "./View.tsx"

export const App = () => {
  const [key, setKey] = useState(operatorKey.read)
  const [refused, setRefused] = useState(false)
  const change = useCallback((key: string | undefined, refused = false) => {
    operatorKey.write(key)
    forgetAnswers()
    setRefused(refused)
    setKey(key)
  }, [])
  const before = useRef(key)
  useEffect(() => {
    // the field that had the focus is gone
    if (before.current === undefined && key !== undefined) document.querySelector<HTMLElement>("main h1")?.focus()
    before.current = key
  }, [key])
  const keyRefused = useCallback(() => change(undefined, true), [change])
  return key === undefined
    ? <KeyForm refused={refused} enter={(key) => change(key)} />
    : <SignedIn apiKey={key} forget={() => change(undefined)} keyRefused={keyRefused} />
}

const SignedIn = ({ apiKey, forget, keyRefused }: { readonly apiKey: string; readonly forget: () => void; readonly keyRefused: () => void }) => {
  const route = useRoute({ routeOf, headingOf })
  const client = useMemo(() => clientWith(apiKey), [apiKey])
  return (
    <Shell pausable client={client} place={placeOf(route)} keyRefused={keyRefused} header={(status) => <Masthead route={route} forget={forget}>{status}</Masthead>}>
      <View route={route} />
    </Shell>
  )
}
