/** The customer's own signing secrets. A new one is shown once: until its box is closed or the page is left. */
import type { Secret } from "@waybill/client/operator"
import { useId, useState } from "preact/hooks"
import { Dialog } from "../parts/Dialog.tsx"
import { ActionResult, Answered, Empty } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { Shown } from "../parts/Shown.tsx"
import { Table } from "../parts/Table.tsx"
import { When } from "../parts/When.tsx"
import { textIn } from "../session/Server.ts"
import { useDialog } from "../session/useDialog.ts"
import { plural } from "../model/words.ts"
import { hashOf, type Route } from "./routes.ts"
import { usePortal, usePortalClient } from "./SessionContext.ts"
import { useKept } from "./useKept.ts"

type SecretsRoute = Extract<Route, { readonly view: "secrets" }>

interface NewSecret {
  readonly hmacSecretId: string
  readonly secret: string
}

export const Secrets = ({ route }: { readonly route: SecretsRoute }) => {
  const { cursor } = route
  const client = usePortalClient()
  const polled = usePortal(hashOf(route), (client, signal) => client.listSecrets({ cursor }, { signal }))
  const { ask, asked, close, result } = useDialog<Secret>(polled)
  const [shown = [], keep] = useKept<ReadonlyArray<NewSecret>>("new secrets")
  const forget = (hmacSecretId: string) => keep((before) => {
    const rest = without(hmacSecretId, before)
    return rest.length === 0 ? undefined : rest
  })
  const rotate = async (hmacSecretId: string) => {
    const { secret } = await client.rotateSecret(hmacSecretId)
    const made = { hmacSecretId, secret: textIn(secret) }
    keep((before) => [made, ...without(hmacSecretId, before)])
    return `Secret ${hmacSecretId} was rotated.`
  }
  return (
    <>
      <h1 tabIndex={-1}>Secrets</h1>
      <p>Each delivery is signed with the secret of its subscription. These belong to you alone; their values are not shown again.</p>
      <ActionResult result={result} />
      {shown.map((secret) => <Once key={secret.secret} secret={secret} forget={() => forget(secret.hmacSecretId)} />)}
      <Answered of={polled}>
        {({ data, nextCursor }) => (
          <>
            {data.length === 0 ? <Empty>No secret belongs to you alone. The company that sends the webhooks can give you one.</Empty> : (
              <Table
                caption={`${plural(data.length, "secret")}${nextCursor ? " on this page" : ""}`}
                columns={columns}
                rows={data.map((secret) => ({ id: secret.hmacSecretId, cells: cellsOf(secret, ask) }))}
              />
            )}
            <Pages first={cursor === undefined ? undefined : hashOf({ view: "secrets" })} next={nextCursor ? hashOf({ view: "secrets", cursor: nextCursor }) : undefined} />
          </>
        )}
      </Answered>
      {asked !== undefined && (
        <Dialog title="Rotate this secret?" confirm="Rotate" act={() => rotate(asked.hmacSecretId)} close={close}>
          <p>A new secret for <strong><Shown text={asked.hmacSecretId} /></strong> is generated and shown once. For a day, deliveries are signed with the previous one as well: enter the new one in your receiver within that time.</p>
        </Dialog>
      )}
    </>
  )
}

const without = (hmacSecretId: string, secrets: ReadonlyArray<NewSecret> = []) => secrets.filter((each) => each.hmacSecretId !== hmacSecretId)

const columns = [
  { name: "Secret" },
  { name: "Used by", number: true },
  { name: "Changed" },
  { name: "Previous one signs until" },
  { name: "Action", bare: true }
]

const cellsOf = (secret: Secret, ask: (secret: Secret) => void) => [
  <Shown text={secret.hmacSecretId} />,
  plural(secret.usedBy, "subscription"),
  <When brief at={secret.rotatedAt ?? secret.createdAt} />,
  secret.signsUntil === null ? "–" : <When at={secret.signsUntil} />,
  <button type="button" class="secondary outline small" onClick={() => ask(secret)}>Rotate<span class="hidden"> {secret.hmacSecretId}</span> …</button>
]

const Once = ({ forget, secret: { hmacSecretId, secret } }: { readonly secret: NewSecret; readonly forget: () => void }) => {
  const id = useId()
  const [copied, setCopied] = useState("")
  const copy = () =>
    navigator.clipboard === undefined
      ? setCopied("This browser copies only over HTTPS. Select the text instead.")
      : navigator.clipboard.writeText(secret).then(() => setCopied("Copied."), () => setCopied("The browser did not allow copying. Select the text instead."))
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>New secret of <Shown text={hmacSecretId} /></h2>
      <p>Copy it now: it is not shown again.</p>
      <p class="secret">{secret}</p>
      <div class="actions">
        <button type="button" onClick={copy}>Copy</button>
        <button type="button" class="secondary" onClick={forget}>I have stored it</button>
        <small role="status">{copied}</small>
      </div>
    </section>
  )
}
