/** List of tenants, on each page the largest backlog first. */
import { hashOf, inTrouble, type Route } from "../model/routes.ts"
import { countedOfTenant, countText } from "../model/trouble.ts"
import { Answered, Empty } from "../parts/Notes.tsx"
import { Pages } from "../parts/Pages.tsx"
import { Shown, ShownList } from "../parts/Shown.tsx"
import { Table } from "../parts/Table.tsx"
import { Tag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { usePolled } from "../session/usePolled.ts"

const columns = [
  { name: "Tenant" },
  { name: "Name" },
  { name: "Waiting", number: true },
  { name: "Oldest entry" },
  { name: "In trouble", number: true },
  { name: "Dead letters", number: true },
  { name: "Public hosts" }
]

/** All that one call returns: the order is that of a page. */
const pageSize = 500

/** Health reads the backlog of every tenant. */
const healthMillis = 30_000

const ofTenant = (count: number | undefined): string => count === undefined ? "–" : countText(count, countedOfTenant)

export const Tenants = ({ route }: { readonly route: Extract<Route, { readonly view: "tenants" }> }) => {
  const { cursor } = route
  const polled = usePolled(hashOf(route), (client, signal) => client.listTenants({ cursor, limit: pageSize }, { signal }))
  const { data: health } = usePolled("health", (client, signal) => client.health({ signal }), healthMillis)
  const healths = new Map(health?.tenants.map((tenant) => [tenant.tenantId, tenant]))
  const waiting = (tenantId: string) => healths.get(tenantId)?.waiting ?? 0
  return (
    <>
      <h1 tabIndex={-1}>Tenants</h1>
      <Answered of={polled}>
        {({ data, nextCursor }) => (
          <>
            {data.length === 0 ? <Empty>There is no tenant yet. <code>PUT /operator/v1/tenants/…</code> makes one.</Empty> : (
              <Table
                caption="Choose a tenant"
                columns={columns}
                rows={data.toSorted((a, b) => waiting(b.tenantId) - waiting(a.tenantId)).map(({ hosts, name, state, tenantId }) => ({
                  id: tenantId,
                  cells: [
                    <a href={hashOf({ view: "subscriptions", tenantId })}><Shown text={tenantId} /></a>,
                    <><Shown text={name} />{state === "suspended" && <> <Tag tone="bad" text="suspended" /></>}</>,
                    ofTenant(healths.get(tenantId)?.waiting),
                    <Oldest at={healths.get(tenantId)?.oldestWaitingAt} />,
                    <Counted count={healths.get(tenantId)?.inTrouble} of="subscription" more=" in trouble" href={hashOf({ view: "subscriptions", tenantId, state: inTrouble })} />,
                    <Counted count={healths.get(tenantId)?.dead} of="dead letter" href={hashOf({ view: "deliveries", tenantId, state: "dead" })} />,
                    hosts.length === 0 ? "–" : <ShownList texts={hosts} />
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

interface CountedProps {
  readonly count: number | undefined
  /** One of them, for screen readers. */
  readonly of: string
  readonly more?: string
  readonly href: string
}

const Counted = ({ count, href, more = "", of }: CountedProps) => count ? <a href={href}>{ofTenant(count)}<span class="hidden"> {count === 1 ? of : `${of}s`}{more}</span></a> : <>{ofTenant(count)}</>

const Oldest = ({ at }: { readonly at: string | null | undefined }) => at === null || at === undefined ? <>–</> : <When brief at={at} />
