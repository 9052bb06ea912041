/** List of tenants. */
import { hashOf, type Route } from "../model/routes.ts"
import { Answered, Empty } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { Shown } from "../parts/Shown.tsx"
import { Table } from "../parts/Table.tsx"
import { usePolled } from "../session/usePolled.ts"

const columns = [{ name: "Tenant" }, { name: "Name" }, { name: "Hosts of public lookups" }]

export const Tenants = ({ route }: { readonly route: Extract<Route, { readonly view: "tenants" }> }) => {
  const { cursor } = route
  const polled = usePolled(hashOf(route), (client, signal) => client.listTenants({ cursor, limit: 100 }, { signal }))
  return (
    <>
      <h1 tabIndex={-1}>Tenants</h1>
      <Answered of={polled} missing="Page not found.">
        {({ data, nextCursor }) => (
          <>
            {data.length === 0 ? <Empty>There is no tenant yet. <code>PUT /operator/v1/tenants/…</code> makes one.</Empty> : (
              <Table
                caption="Choose a tenant"
                columns={columns}
                rows={data.map(({ hosts, name, tenantId }) => ({
                  id: tenantId,
                  cells: [
                    <a href={hashOf({ view: "subscriptions", tenantId })}><Shown text={tenantId} /></a>,
                    <Shown text={name} />,
                    hosts.length === 0 ? "–" : <Shown text={hosts.join(", ")} />
                  ]
                }))}
              />
            )}
            <Pages
              first={cursor === undefined ? undefined : hashOf({ view: "tenants" })}
              next={nextCursor ? hashOf({ view: "tenants", cursor: nextCursor }) : undefined}
            />
          </>
        )}
      </Answered>
    </>
  )
}
