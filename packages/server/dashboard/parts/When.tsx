/** A time: UTC and relative. */
import { relativeText, utcText } from "../model/time.ts"
import { serverNow } from "../session/Server.ts"
import { Shown } from "./Shown.tsx"

export const When = ({ at, brief = false }: { readonly at: string; readonly brief?: boolean }) => {
  const relative = relativeText(at, serverNow())
  // Only a valid time may appear in datetime.
  if (relative === "") return <Shown text={at} />
  return brief
    ? <time dateTime={at} title={`${utcText(at)} UTC`}>{relative}</time>
    : <time dateTime={at} class="when"><span class="instant">{utcText(at)} UTC</span> <small>{relative}</small></time>
}
