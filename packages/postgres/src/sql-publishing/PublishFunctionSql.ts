/** The SQL function that publishes transit events, around the statements of the event log. */
import { maxDepth } from "@waybill/core"
import { eventTypes, maxEventBytes, maxEventsPerCall, typeMask } from "@waybill/core/transit-events"
import { raw } from "../client/SqlStatement.ts"
import { documents, invoices, replaceAccountsOf } from "../shared/InvoiceAccountsSql.ts"
import * as shipments from "../shared/ShipmentSql.ts"
import * as events from "../transit-events/TransitEventSql.ts"
import { eventRules } from "./EventRulesSql.ts"
import { sqlFunction } from "./SqlFunction.ts"

/** The statements of the event log, unchanged. Their values are the parameters of these functions. */
const own = raw("$1")

const findTransitEvents = sqlFunction("find_transit_events(text, text[], text[])", (schema) =>
  `RETURNS TABLE (event_id text, shipment_id text, sequence bigint, body bytea)
LANGUAGE plpgsql STABLE AS $function$
#variable_conflict use_column
BEGIN
RETURN QUERY ${events.findEvents(raw(schema), own, { eventIds: raw("$2::text[]"), shipmentIds: raw("$3::text[]") }).text};
END
$function$`)

const lockedShipments: shipments.ShipmentClaims = {
  tenant: own,
  shipmentIds: raw("$2::text[]"),
  needed: raw("$3::int4[]"),
  highest: raw("$4::int8[]"),
  accounts: raw("$5::text[]"),
  carriers: raw("$6::text[]"),
  written: raw("$7::bool[]"),
  writer: raw("$8::text[]"),
  anyCarrier: raw("$8 IS NULL")
}

const lockShipments = sqlFunction("lock_shipments(text, text[], integer[], bigint[], text[], text[], boolean[], text[])", (schema) =>
  `RETURNS TABLE (shipment_id text, first bigint, reassigned boolean, invoiced boolean, own boolean)
LANGUAGE plpgsql AS $function$
#variable_conflict use_column
BEGIN
RETURN QUERY ${shipments.lockShipments(raw(schema), lockedShipments).text};
END
$function$`)

const replaceAccounts = sqlFunction("replace_accounts(text, text[])", (schema) => `RETURNS void
LANGUAGE plpgsql AS $function$
BEGIN
${shipments.replaceAccounts(raw(schema), own, raw("$2::text[]")).text};
IF EXISTS (SELECT FROM ${schema}.shipments AS s WHERE s.tenant_id = $1 AND s.shipment_id = ANY ($2) AND s.invoiced) THEN
${replaceAccountsOf(raw(schema), own, invoices, { shipmentIds: raw("$2::text[]") }).text};
${replaceAccountsOf(raw(schema), own, documents, { shipmentIds: raw("$2::text[]") }).text};
END IF;
END
$function$`)

const appendedEvents: events.AppendedEvents = {
  tenant: own,
  eventIds: raw("$2::text[]"),
  shipmentIds: raw("$3::text[]"),
  sequences: raw("$4::int8[]"),
  typeBits: raw("$5::int4[]"),
  occurredAt: raw("$6::timestamptz[]"),
  bodies: raw("$7::bytea[]"),
  traceparent: raw("$8")
}

const appendTransitEvents = sqlFunction("append_transit_events(text, text[], text[], bigint[], integer[], timestamptz[], bytea[], text)", (schema) =>
  `RETURNS SETOF text
LANGUAGE plpgsql AS $function$
BEGIN
RETURN QUERY ${events.append(raw(schema), appendedEvents).text};
END
$function$`)

/** The first fault of an event as `{pointer, detail}`; null if it is valid. */
const transitEventFault = sqlFunction("transit_event_fault(event jsonb)", (schema) => {
  const { declarations, statements } = eventRules(schema)
  return `RETURNS text[]
LANGUAGE plpgsql STABLE AS $function$
DECLARE
fault text[];
inexact text;
-- without a question mark and an at sign, which some database tools read as placeholders
large constant jsonpath := translate('strict $.** # (%.type() == "number" && (% > ${Number.MAX_SAFE_INTEGER} || % < -${Number.MAX_SAFE_INTEGER}))', '#%', chr(63) || chr(64))::jsonpath;
${declarations.join("\n")}
BEGIN
IF jsonb_typeof(event) <> 'object' THEN RETURN ARRAY['', 'An event is a JSON object.']; END IF;
IF EXISTS (SELECT FROM jsonb_path_query(event, 'strict $.**{${maxDepth}}') AS deepest WHERE jsonb_typeof(deepest) IN ('object', 'array')) THEN
  RETURN ARRAY['', 'An event nests at most ${maxDepth} levels deep.'];
END IF;
${statements.join("\n")}
IF jsonb_path_exists(event, large) THEN
  inexact := ${schema}.inexact_number(event);
  IF inexact IS NOT NULL THEN RETURN ARRAY[inexact, 'Numbers beyond ${Number.MAX_SAFE_INTEGER} lose digits in JSON. Send this one as text.']; END IF;
END IF;
RETURN NULL;
END
$function$`
})

/** The content of a stored event without id and sequence; null if it has characters that jsonb cannot hold. */
const storedContent = sqlFunction("stored_content(body bytea)", () => `RETURNS jsonb
LANGUAGE plpgsql STABLE AS $function$
BEGIN
  RETURN convert_from(body, 'UTF8')::jsonb - 'eventId' - 'sequence';
EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
  RETURN NULL;
END
$function$`)

/** JSON with one spelling for each date-time in it, like core compares contents. SPEC-GAP-X8 */
const plainTimes = sqlFunction("plain_times(value jsonb)", (schema) => `RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  parts text[];
BEGIN
  CASE jsonb_typeof(value)
    WHEN 'object' THEN
      RETURN coalesce((SELECT jsonb_object_agg(m.key, ${schema}.plain_times(m.value)) FROM jsonb_each(value) AS m), value);
    WHEN 'array' THEN
      RETURN coalesce((SELECT jsonb_agg(${schema}.plain_times(e.value) ORDER BY e.ordinality) FROM jsonb_array_elements(value) WITH ORDINALITY AS e), value);
    WHEN 'string' THEN
      parts := regexp_match(value #>> '{}',
        '^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})([.][0-9]{1,9}){0,1}([Zz]|[+-][0-9]{2}:[0-9]{2}){0,1}$');
      RETURN CASE WHEN parts IS NULL THEN value ELSE to_jsonb(concat(parts[1], 'T', parts[2], rtrim(rtrim(parts[3], '0'), '.'),
        CASE WHEN parts[4] IN ('z', '+00:00', '-00:00') THEN 'Z' ELSE parts[4] END)) END;
    ELSE RETURN value;
  END CASE;
END
$function$`)

/** Times are spelled again only where the contents differ as they are written. */
const sameContent = sqlFunction("same_content(again jsonb, known jsonb)", (schema) => `RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
  SELECT coalesce(again = known OR ${schema}.plain_times(again) = ${schema}.plain_times(known), false)
$function$`)

/**
 * The events that have the id of a stored event of their shipment, or of an earlier one of the call: whether the content is the same, like core compares
 * it. A sequence counts only if both have one.
 */
const repeatedEvents = sqlFunction("repeated_events(tenant text, ids text[], shipments text[], contents jsonb[], numbers bigint[])", (schema) =>
  `RETURNS TABLE (place integer, first integer, stored_number bigint, same boolean)
LANGUAGE plpgsql STABLE AS $function$
#variable_conflict use_column
BEGIN
  IF array_remove(ids, NULL) = '{}' THEN RETURN; END IF;
  RETURN QUERY SELECT g.place::integer, g.first::integer, k.sequence,
    CASE WHEN k.event_id IS NULL THEN ${schema}.same_content(g.content, g.first_content) AND coalesce(g.number = g.first_number, true)
      ELSE ${schema}.same_content(g.content, k.content) AND coalesce(g.number = k.sequence, true) END
  FROM (
    SELECT g.*, first_value(g.place) OVER same_id AS first, first_value(g.content) OVER same_id AS first_content,
      first_value(g.number) OVER same_id AS first_number
    FROM unnest(ids, shipments, contents, numbers) WITH ORDINALITY AS g (id, shipment, content, number, place)
    WHERE g.id IS NOT NULL
    WINDOW same_id AS (PARTITION BY g.id COLLATE "C", g.shipment COLLATE "C" ORDER BY g.place)
  ) AS g
  LEFT JOIN (
    SELECT e.event_id, e.shipment_id, e.sequence, ${schema}.stored_content(e.body) AS content
    FROM (
      SELECT array_agg(d.id) AS ids, array_agg(d.shipment) AS shipments
      FROM (
        SELECT DISTINCT d.id COLLATE "C" AS id, d.shipment COLLATE "C" AS shipment FROM unnest(ids, shipments) AS d (id, shipment) WHERE d.id IS NOT NULL
      ) AS d
    ) AS d
    CROSS JOIN LATERAL ${schema}.find_transit_events(tenant, d.ids, d.shipments) AS e
  ) AS k ON k.event_id = g.id COLLATE "C" AND k.shipment_id = g.shipment COLLATE "C"
  WHERE k.event_id IS NOT NULL OR g.place > g.first
  ORDER BY g.place;
END
$function$`)

/** The texts of a JSON list, each once, in the order of their first place. */
const distinctTexts = sqlFunction("distinct_texts(list jsonb)", () => `RETURNS text[]
LANGUAGE sql IMMUTABLE AS $function$
  SELECT coalesce(array_agg(t.value ORDER BY t.first), '{}')
  FROM (SELECT min(e.value) AS value, min(e.ordinality) AS first FROM jsonb_array_elements_text(list) WITH ORDINALITY AS e GROUP BY e.value COLLATE "C") AS t
$function$`)

/** A UUID of version 7 for the milliseconds of an instant. `counter`, below 4096, orders the ids of one call. */
const uniqueId = sqlFunction("unique_id(millis bigint, counter integer)", () => `RETURNS text
LANGUAGE sql VOLATILE AS $function$
  SELECT overlay(lpad(to_hex(millis), 12, '0') PLACING '-' FROM 9 FOR 0) || '-7' || lpad(to_hex(counter), 3, '0') || substr(gen_random_uuid()::text, 19)
$function$`)

/** Postgres' own form of JSON takes at most six times the bytes of the text, for lists of small numbers. */
const maxColumnBytes = 8 * maxEventBytes

const publishTransitEvents = sqlFunction("publish_transit_events(tenant text, events jsonb)", (schema, channel) => `RETURNS TABLE (index integer, event_id text, sequence bigint, outcome text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
SET standard_conforming_strings = on
AS $function$
#variable_conflict use_column
DECLARE
  tenant_state text;
  list jsonb := CASE jsonb_typeof(events) WHEN 'array' THEN events WHEN 'object' THEN jsonb_build_array(events) END;
  total integer := jsonb_array_length(list);
  millis bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  -- random at first, so that ids of several calls in one millisecond differ in it
  counter integer := ('x' || substr(gen_random_uuid()::text, 1, 3))::bit(12)::integer >> 1;
  event jsonb;
  place integer;
  fault text[];
  violated text;
  repeat record;
  -- the input, one element for each event
  texts text[];
  contents jsonb[];
  ids text[];
  numbers bigint[];
  shipments text[];
  accounts text[];
  bits integer[];
  instants timestamptz[];
  -- 0: a new event; else the place of the event that it repeats, which is its own place if the event is stored
  originals integer[];
  final_ids text[];
  final_numbers bigint[];
  -- one element for each shipment of new events
  claimed text[];
  firsts bigint[];
  reassigned text[];
  with_status text[];
BEGIN
  SELECT t.state INTO tenant_state FROM ${schema}.tenants AS t WHERE t.tenant_id = tenant AND t.state <> 'deleted';
  IF tenant_state IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'no_data_found', MESSAGE = format('No tenant %s.', coalesce(tenant, 'null'));
  ELSIF tenant_state <> 'active' THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
      MESSAGE = format('Tenant %s is suspended. Ask the operator of the service to resume it.', tenant);
  END IF;
  IF total IS NULL OR total NOT BETWEEN 1 AND ${maxEventsPerCall} THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', DETAIL = '/events', MESSAGE = CASE
      WHEN total IS NULL THEN 'events: Send a JSON array of 1 to ${maxEventsPerCall} events, or one event.'
      WHEN total = 0 THEN 'events: Send at least one event.'
      ELSE format('events: At most ${maxEventsPerCall} events in one call, this call has %s. Send several calls.', total)
    END;
  END IF;

  FOR event, place IN SELECT e.value, e.ordinality FROM jsonb_array_elements(list) WITH ORDINALITY AS e LOOP
    fault := ${schema}.transit_event_fault(event);
    -- the text of such an event is longer for certain, and would take seconds
    IF fault IS NULL AND pg_column_size(event - 'eventId' - 'sequence' - 'parties') > ${maxColumnBytes} THEN
      fault := ARRAY['', 'An event has at most ${maxEventBytes} bytes of JSON.'];
    END IF;
    IF fault IS NULL THEN
      texts[place] := ${schema}.json_text(event - 'eventId' - 'sequence' - 'parties');
      IF octet_length(texts[place]) > ${maxEventBytes} THEN
        fault := ARRAY['', 'An event has at most ${maxEventBytes} bytes of JSON.'];
      END IF;
    END IF;
    IF fault IS NOT NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', DETAIL = '/events/' || place - 1 || fault[1],
        MESSAGE = 'events[' || place - 1 || ']' || replace(fault[1], '/', '.') || ': ' || fault[2];
    END IF;
    ids[place] := event->>'eventId';
    numbers[place] := ${schema}.json_number((event->'sequence')::numeric)::bigint;
    shipments[place] := event->'shipment'->>'shipmentId';
    bits[place] := CASE event->>'type' ${eventTypes.map((type) => `WHEN '${type}' THEN ${typeMask([type])}`).join(" ")} END;
    instants[place] := ${schema}.instant_of(event->>'occurredAt');
    accounts[place] := CASE WHEN event->'parties' IS NOT NULL THEN ${schema}.distinct_texts(event->'parties'->'accounts')::text END;
    -- only an event with an id can repeat another one
    contents[place] := CASE WHEN ids[place] IS NOT NULL THEN texts[place]::jsonb END;
  END LOOP;

  FOR attempt IN 1 .. 10 LOOP
    BEGIN
      originals := array_fill(0, ARRAY[total]);
      final_ids := ids;
      final_numbers := numbers;
      FOR repeat IN SELECT * FROM ${schema}.repeated_events(tenant, ids, shipments, contents, numbers) LOOP
        IF NOT repeat.same THEN
          RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', DETAIL = '/events/' || repeat.place - 1 || '/eventId',
            MESSAGE = format('events[%s].eventId: Event %s is known with other content. An event never changes: give a correction an eventId of its own.',
              repeat.place - 1, ids[repeat.place]);
        END IF;
        originals[repeat.place] := CASE WHEN repeat.stored_number IS NULL THEN repeat.first ELSE repeat.place END;
        final_numbers[repeat.place] := repeat.stored_number;
      END LOOP;
      EXIT WHEN 0 <> ALL (originals);

      SELECT array_agg(l.shipment_id), array_agg(l.first), array_agg(l.shipment_id) FILTER (WHERE l.reassigned)
      INTO claimed, firsts, reassigned
      FROM (
        SELECT array_agg(c.shipment) AS shipments, array_agg(c.needed) AS needed, array_agg(c.highest) AS highest, array_agg(c.accounts) AS accounts,
          array_agg(NULL::text) AS carriers, array_agg(true) AS written
        FROM (
          SELECT min(n.shipment) AS shipment, (count(*) FILTER (WHERE n.number IS NULL))::integer AS needed, coalesce(max(n.number), 0) AS highest,
            (array_agg(n.accounts ORDER BY n.place DESC) FILTER (WHERE n.accounts IS NOT NULL))[1] AS accounts
          FROM unnest(shipments, numbers, accounts, originals) WITH ORDINALITY AS n (shipment, number, accounts, original, place)
          WHERE n.original = 0
          GROUP BY n.shipment COLLATE "C"
        ) AS c
      ) AS c
      CROSS JOIN LATERAL ${schema}.lock_shipments(tenant, c.shipments, c.needed, c.highest, c.accounts, c.carriers, c.written, NULL) AS l;
      IF reassigned IS NOT NULL THEN PERFORM ${schema}.replace_accounts(tenant, reassigned); END IF;

      SELECT array_agg(n.id ORDER BY n.place), array_agg(n.number ORDER BY n.place)
      INTO final_ids, final_numbers
      FROM (
        SELECT n.place, coalesce(n.id, ${schema}.unique_id(millis, counter + n.place::integer)) AS id,
          CASE WHEN n.original = 0 AND n.number IS NULL
            THEN l.first - 1 + row_number() OVER (PARTITION BY n.shipment COLLATE "C", n.original, n.number IS NULL ORDER BY n.place)
            ELSE n.number END AS number
        FROM unnest(ids, final_numbers, shipments, originals) WITH ORDINALITY AS n (id, number, shipment, original, place)
        LEFT JOIN unnest(claimed, firsts) AS l (shipment, first) ON l.shipment = n.shipment COLLATE "C"
      ) AS n;

      SELECT array_agg(a.shipment) INTO with_status
      FROM (
        SELECT array_agg(n.id) AS ids, array_agg(n.shipment) AS shipments, array_agg(n.number) AS numbers, array_agg(n.bit) AS bits, array_agg(n.instant) AS instants,
          array_agg(convert_to('{"eventId":' || to_json(n.id)::text || ',"sequence":' || n.number || ',' || substr(n.text, 2), 'UTF8')) AS bodies
        FROM unnest(final_ids, shipments, final_numbers, bits, instants, texts, originals) WITH ORDINALITY AS n (id, shipment, number, bit, instant, text, original, place)
        WHERE n.original = 0
      ) AS n
      CROSS JOIN LATERAL ${schema}.append_transit_events(tenant, n.ids, n.shipments, n.numbers, n.bits, n.instants, n.bodies, NULL) AS a (shipment);
      EXIT;
    EXCEPTION WHEN unique_violation THEN
      GET STACKED DIAGNOSTICS violated = CONSTRAINT_NAME;
      -- Citus names no constraint
      IF violated NOT IN ('transit_events_id', '') THEN RAISE; END IF;
      -- stricter isolation levels fail before, at the shipment that the other transaction wrote
      IF attempt = 10 THEN
        RAISE EXCEPTION USING ERRCODE = 'serialization_failure', MESSAGE = 'Another transaction stored one of these eventIds at the same moment.',
          HINT = 'Run the transaction again.';
      END IF;
    END;
  END LOOP;

  IF with_status IS NOT NULL THEN
    INSERT INTO ${schema}.transit_events_awaiting_status (tenant_id, shipment_id, event_no)
    SELECT tenant, e.shipment_id, e.event_no
    FROM unnest(final_ids, shipments, originals) AS n (id, shipment, original)
    JOIN ${schema}.transit_events AS e ON e.tenant_id = tenant AND e.event_id = n.id AND e.shipment_id = n.shipment
    WHERE n.original = 0 AND n.shipment COLLATE "C" = ANY (with_status);
  END IF;
  INSERT INTO ${schema}.audit_entries
    (tenant_id, entry_id, at, actor_kind, actor_name, address, action, object_kind, object_id, result, status, request_id)
  VALUES (tenant, ${schema}.unique_id(millis, counter)::uuid, clock_timestamp(), 'client', 'sql:' || session_user, host(inet_client_addr()),
    'transit-events.publish', 'transit-events', '', 'ok', 200, 'transaction ' || pg_current_xact_id());
  -- Postgres commits transactions that notify one after the other, so none notifies for nothing, and bulk writers can leave it to polling
  IF 0 = ANY (originals) AND coalesce(current_setting('waybill.notify', true), '') <> 'off'
    AND EXISTS (SELECT FROM ${schema}.delivery_signals AS s WHERE s.tenant_id = tenant)
  THEN
    PERFORM pg_notify('${channel}', 'sql:' || tenant);
  END IF;

  RETURN QUERY SELECT n.place::integer - 1, n.id, coalesce(n.number, final_numbers[n.original]), CASE n.original WHEN 0 THEN 'accepted' ELSE 'duplicate' END
  FROM unnest(final_ids, final_numbers, originals) WITH ORDINALITY AS n (id, number, original, place)
  ORDER BY n.place;
END
$function$`)

export const publishFunctions = [
  findTransitEvents, lockShipments, replaceAccounts, appendTransitEvents, transitEventFault, storedContent, plainTimes, sameContent, repeatedEvents, distinctTexts, uniqueId, publishTransitEvents
]
