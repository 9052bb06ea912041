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
  // `refused` was accepted before: its page stays, with what was typed into it, behind the form that asks for another key
  const [{ key, refused }, setKeys] = useState<Keys>(() => ({ key: operatorKey.read(), refused: undefined }))
  const change = useCallback((key: string | undefined) => {
    operatorKey.write(key)
    forgetAnswers()
    setKeys({ key, refused: undefined })
  }, [])
  const before = useRef(key)
  useEffect(() => {
    // the field that had the focus is gone
    if (before.current === undefined && key !== undefined && document.activeElement === document.body) document.querySelector<HTMLElement>("main h1")?.focus()
    before.current = key
  }, [key])
  const keyRefused = useCallback(() => {
    operatorKey.write(undefined)
    forgetAnswers()
    setKeys(({ key, refused }) => ({ key: undefined, refused: key ?? refused }))
  }, [])
  const shown = key ?? refused
  return (
    <>
      {shown !== undefined && <SignedIn apiKey={shown} locked={key === undefined} forget={() => change(undefined)} keyRefused={keyRefused} />}
      {key === undefined && <KeyForm refused={refused !== undefined} enter={change} />}
    </>
  )
}

interface Keys {
  readonly key: string | undefined
  readonly refused: string | undefined
}

interface SignedInProps {
  readonly apiKey: string
  /** The key was refused: nothing is asked with it. */
  readonly locked: boolean
  readonly forget: () => void
  readonly keyRefused: () => void
}

const SignedIn = ({ apiKey, forget, keyRefused, locked }: SignedInProps) => {
  const route = useRoute({ routeOf, headingOf })
  const client = useMemo(() => clientWith(apiKey), [apiKey])
  return (
    <Shell pausable locked={locked} client={client} place={placeOf(route)} keyRefused={keyRefused} header={(status) => <Masthead route={route} forget={forget}>{status}</Masthead>}>
      <View route={route} />
    </Shell>
  )
}
