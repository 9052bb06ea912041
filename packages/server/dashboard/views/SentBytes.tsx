/** The exact body of a delivery. Formatted only on request, next to the original. */
import { useEffect, useMemo, useState } from "preact/hooks"
import { fileNameOf, hexRows, hexText, sizeText } from "../model/bytes.ts"
import { indentJson } from "../model/indentJson.ts"
import { useParts } from "../parts/Parts.tsx"
import { ShownBlock } from "../parts/Shown.tsx"
import { useAppState } from "../session/Context.ts"

type Way = "raw" | "indented" | "hex"

const ways: ReadonlyArray<readonly [Way, string]> = [["raw", "As sent"], ["indented", "Indented"], ["hex", "Hex"]]

export const SentBytes = ({ body, id }: { readonly id: string; readonly body: string }) => {
  const { announce } = useAppState()
  const [way, setWay] = useState<Way>("raw")
  const [done, setDone] = useState("")
  const bytes = useMemo(() => new TextEncoder().encode(body), [body])
  const digest = useDigest(bytes)
  const announceResult = (sentence: string) => {
    setDone(sentence)
    announce(sentence)
  }
  const copy = () =>
    navigator.clipboard === undefined
      ? announceResult("This browser copies only over HTTPS. Download it instead.")
      : navigator.clipboard.writeText(body).then(() => announceResult("Copied."), () => announceResult("The browser did not allow copying. Download the body instead."))
  return (
    <section aria-labelledby="body">
      <h2 id="body">Exact body</h2>
      <p class="digest">
        {sizeText(bytes.length)}, SHA-256 <span class="id">{digest ?? "…"}</span>
      </p>
      <div class="actions">
        <div role="group" aria-label="How to show it">
          {ways.map(([value, name]) => (
            <button key={value} type="button" class="secondary small outline" aria-pressed={way === value} onClick={() => setWay(value)}>{name}</button>
          ))}
        </div>
        <button type="button" class="secondary outline small" onClick={copy}>Copy</button>
        <button type="button" class="secondary outline small" onClick={() => download(fileNameOf("delivery", id), bytes)}>Download</button>
        <small>{done}</small>
      </div>
      {way === "raw" && <ShownBlock label="Body as sent" text={body} />}
      {way === "indented" && <Indented body={body} />}
      {way === "hex" && <Hex bytes={bytes} />}
    </section>
  )
}

const Indented = ({ body }: { readonly body: string }) => {
  const text = useMemo(() => indentJson(body), [body])
  return text === undefined ? <><p>The body is not JSON, so it is shown as it was sent.</p><ShownBlock label="Body as sent" text={body} /></> : <ShownBlock ourLines label="Body, indented" text={text} />
}

/** Whole rows of sixteen. */
const hexPart = 32_768

const Hex = ({ bytes }: { readonly bytes: Uint8Array }) => {
  const { controls, from, to } = useParts(bytes.length, hexPart, "Bytes")
  const text = useMemo(() => hexRows(bytes.subarray(from, to), from).map(({ ascii, hex, offset }) => `${offset}  ${hex}  ${ascii}`).join("\n"), [bytes, from, to])
  return (
    <>
      <pre class="block hex" tabIndex={0} role="region" aria-label="Body in hexadecimal digits" dir="ltr">{text}</pre>
      {controls}
    </>
  )
}

/** Browsers compute it over HTTPS and on localhost only. */
const useDigest = (bytes: Uint8Array<ArrayBuffer>): string | undefined => {
  const [digest, setDigest] = useState<{ readonly of: Uint8Array; readonly hex: string }>()
  useEffect(() => {
    let wanted = true
    if (globalThis.crypto.subtle === undefined) setDigest({ of: bytes, hex: "is computed over HTTPS only" })
    else void crypto.subtle.digest("SHA-256", bytes).then((hash) => wanted && setDigest({ of: bytes, hex: hexText(new Uint8Array(hash)) }))
    return () => {
      wanted = false
    }
  }, [bytes])
  return digest?.of === bytes ? digest.hex : undefined
}

/** With a type that no browser opens, and a fixed file name. */
const download = (name: string, bytes: Uint8Array<ArrayBuffer>): void => {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
