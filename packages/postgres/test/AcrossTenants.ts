/** Statements across tenants, and why they do not prevent distribution. On Citus they are sent to all shards. */
export const acrossTenants: ReadonlyArray<{ readonly says: RegExp; readonly why: string }> = [
  { says: /^\s*WITH (RECURSIVE )?signalled AS \([^]*\.delivery_leases AS l/, why: "which partitions have no owner, gathered from all nodes: ids and times only" },
  { says: /^\s*(UPDATE|SELECT)[^]*\.delivery_leases AS l[^]*\sWHERE l\.worker_id = \$\d::text AND l\.leased_until (<=|>) now\(\)( AND l\.leased_until > '-infinity')?$/, why: "the leases of a worker, in whatever tenant" },
  { says: /^\s*SELECT l\.tenant_id, l\.partition::int4 AS partition\s+FROM \S+\.delivery_leases AS l/, why: "which partitions of a worker have signals, and whose leases lie ahead: ids only" },
  { says: /AS workers,[^]*AS active/, why: "how many partitions have an owner" },
  { says: /^\s*SELECT s\.tenant_id\s+FROM \S+\.freight_charge_subscriptions AS s\s+WHERE s\.closes_at/, why: "whose windows close: ids only" },
  { says: /min\(closes_at\) - now\(\)/, why: "how long to sleep" },
  { says: /AS waiting_entries,[^]*AS unsettled/, why: "the metrics of the whole installation" },
  { says: /^\s*WITH stopped AS MATERIALIZED/, why: "the metrics of unhealthy destinations" },
  { says: /^\s*SELECT entry_id, .* FROM \S+\.audit_entries WHERE (entry_id|\(actor_name, entry_id\)) >=/, why: "the operator's audit log: the newest entries of all nodes, or of one actor" },
  { says: /^\s*SELECT entry_id, tenant_id FROM \S+\.audit_entries WHERE entry_id </, why: "entries that retention removes, tenant by tenant" },
  { says: /^\s*SELECT tenant_id, name, hosts, state FROM \S+\.tenants/, why: "an operator's list of tenants" },
  { says: /^\s*SELECT tenant_id FROM \S+\.tenants WHERE state = 'deleted'/, why: "which deleted tenants are still to be removed: ids only" },
  { says: /^\s*SELECT t\.tenant_id FROM \S+\.tenants AS t\s+WHERE [^]*\.transit_events_awaiting_status/, why: "who has events from SQL that await a status: ids only" },
  { says: /^\s*SELECT t\.tenant_id FROM \S+\.tenants AS t\s+WHERE [^]*\.mails/, why: "who has e-mails that are due: ids only" },
  { says: /^\s*SELECT coalesce\(greatest\([^]*\.mails/, why: "the metric of e-mails that are due: a time only" },
  { says: /^\s*SELECT c\.tenant_id FROM \S+\.clients AS c\s+WHERE c\.review_at/, why: "whose clients' access is to be computed again: ids only" }
]
