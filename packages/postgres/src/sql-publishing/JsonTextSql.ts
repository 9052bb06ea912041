/** SQL functions that read and write JSON values as JavaScript does, so that stored bytes do not depend on who wrote them. */
import { sqlFunction } from "./SqlFunction.ts"

/** A number as JSON.parse reads it: the nearest double. Numbers beyond all doubles are infinite, and those below the smallest are 0. */
const jsonNumber = sqlFunction("json_number(value numeric)", () => `RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $function$
  SELECT CASE
    WHEN value >= 1.79769313486231580793728971405e308 THEN float8 'Infinity'
    WHEN value <= -1.79769313486231580793728971405e308 THEN float8 '-Infinity'
    WHEN abs(value) < 2.4703282292062327209e-324 THEN 0
    ELSE value::float8
  END
$function$`)

/**
 * A number as JSON.stringify writes it: the shortest digits, with an exponent from 1e21 and below 1e-6. Postgres leaves out digits that are
 * exactly halfway between two doubles, which JavaScript takes if they are read as this one: 600021200000000000000, where Postgres writes
 * 6.000211999999999e+20. Only whole numbers from 2^53 to 1e40 can be halfway in so few digits.
 */
const jsonNumberText = sqlFunction("json_number_text(value numeric)", (schema) => `RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  number float8 := ${schema}.json_number(value);
  whole numeric;
  digits text;
BEGIN
  IF abs(number) = 'Infinity' THEN RETURN 'null'; END IF;
  IF number = 0 THEN RETURN '0'; END IF;
  IF abs(number) BETWEEN 9007199254740992 AND 1e40 THEN
    whole := abs(number)::text::numeric;
    SELECT shorter INTO whole
    FROM generate_series(1, 17) AS kept, unnest(ARRAY[round(whole, kept - length(whole::text)), trunc(whole, kept - length(whole::text))]) AS shorter
    WHERE shorter::float8 = abs(number) ORDER BY kept LIMIT 1;
    IF whole < 1e21 THEN RETURN sign(number)::numeric * whole; END IF;
    digits := rtrim(whole::text, '0');
    RETURN concat(CASE WHEN number < 0 THEN '-' END, left(digits, 1), CASE WHEN length(digits) > 1 THEN '.' END, substr(digits, 2), 'e+', length(whole::text) - 1);
  END IF;
  IF abs(number) >= 1e21 OR abs(number) < 1e-6 THEN
    RETURN regexp_replace(number::text, 'e([+-])0+', 'e\\1');
  END IF;
  RETURN trim_scale(number::text::numeric)::text;
END
$function$`)

/** Whether a member's name is an array index. JavaScript objects have such names first. */
const isIndex = `CASE WHEN e.key ~ '^(0|[1-9][0-9]{0,9})$' THEN e.key::bigint < 4294967295 ELSE false END`

/** The JSON pointer of the first number that JavaScript would round or write as null; null if there is none. */
const inexactNumber = sqlFunction("inexact_number(value jsonb)", (schema) => `RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  name text;
  member jsonb;
  found text;
BEGIN
  IF jsonb_typeof(value) = 'number' THEN
    RETURN CASE WHEN abs(${schema}.json_number(value::numeric)) > ${Number.MAX_SAFE_INTEGER} THEN '' END;
  ELSIF jsonb_typeof(value) IN ('object', 'array') THEN
    FOR name, member IN
      SELECT e.key, e.value FROM jsonb_each(CASE jsonb_typeof(value) WHEN 'object' THEN value END) WITH ORDINALITY AS e
      ORDER BY ${isIndex} DESC, e.ordinality
    LOOP
      found := ${schema}.inexact_number(member);
      IF found IS NOT NULL THEN RETURN '/' || replace(replace(name, '~', '~0'), '/', '~1') || found; END IF;
    END LOOP;
    FOR name, member IN
      SELECT e.ordinality - 1, e.value FROM jsonb_array_elements(CASE jsonb_typeof(value) WHEN 'array' THEN value END) WITH ORDINALITY AS e
      ORDER BY e.ordinality
    LOOP
      found := ${schema}.inexact_number(member);
      IF found IS NOT NULL THEN RETURN '/' || name || found; END IF;
    END LOOP;
  END IF;
  RETURN NULL;
END
$function$`)

/** Any value, member by member. Names that are array indices come first, as in a JavaScript object. */
const jsonPartsText = sqlFunction("json_parts_text(value jsonb)", (schema) => `RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
BEGIN
  CASE jsonb_typeof(value)
    WHEN 'object' THEN
      RETURN '{' || coalesce((
        SELECT string_agg(to_json(m.key)::text || ':' || ${schema}.json_parts_text(m.value), ',' ORDER BY m.is_index DESC, m.ordinality)
        FROM (
          SELECT e.*, ${isIndex} AS is_index
          FROM jsonb_each(value) WITH ORDINALITY AS e
        ) AS m
      ), '') || '}';
    WHEN 'array' THEN
      RETURN '[' || coalesce((
        SELECT string_agg(${schema}.json_parts_text(e.value), ',' ORDER BY e.ordinality)
        FROM jsonb_array_elements(value) WITH ORDINALITY AS e
      ), '') || ']';
    WHEN 'number' THEN RETURN ${schema}.json_number_text(value::numeric);
    ELSE RETURN value::text;
  END CASE;
END
$function$`)

/**
 * The text that JSON.stringify gives for what JSON.parse read. Postgres' own text has blanks between the tokens, and may write numbers
 * and order names in another way; only texts with such numbers or names are written member by member. The text is cut at its quotes, so
 * escaped quotes and backslashes are written as code points meanwhile. Patterns would take five times as long. Numbers such as 1e100000 are found
 * first, because Postgres' text has all their digits.
 */
const jsonText = sqlFunction("json_text(value jsonb)", (schema) => `RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  compact text;
  tokens text;
  -- without a question mark and an at sign, which some database tools read as placeholders
  extremes constant jsonpath := translate('strict $.** # (%.type() == "number" && (% > 1e30 || % < -1e30 || (% < 1e-30 && % > -1e-30 && % != 0)))', '#%', chr(63) || chr(64))::jsonpath;
BEGIN
  IF jsonb_path_exists(value, extremes) THEN RETURN ${schema}.json_parts_text(value); END IF;
  SELECT
    string_agg(CASE
      WHEN p.place % 2 = 0 THEN p.part
      WHEN p.part = ': ' THEN ':'
      WHEN p.part = ', ' THEN ','
      ELSE replace(replace(p.part, ', ', ','), ': ', ':')
    END, '"' ORDER BY p.place),
    string_agg(p.part, '' ORDER BY p.place) FILTER (WHERE p.place % 2 = 1)
  INTO compact, tokens
  FROM unnest(string_to_array(replace(replace(value::text, '\\\\', '\\u005c'), '\\"', '\\u0022'), '"')) WITH ORDINALITY AS p (part, place);
  IF tokens ~ '[0-9][0-9.]{15}|[.][0-9]*0([^0-9]|$)|[^0-9]0[.]00000' OR compact ~ '"(0|[1-9][0-9]{0,9})":' THEN
    RETURN ${schema}.json_parts_text(value);
  END IF;
  RETURN replace(replace(compact, '\\u0022', '\\"'), '\\u005c', '\\\\');
END
$function$`)

/** Length as core counts it: a character beyond the basic plane counts twice. */
const utf16Length = sqlFunction("utf16_length(value text)", () => `RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $function$
  SELECT char_length(value) + char_length(regexp_replace(value, '[^\\U00010000-\\U0010ffff]', '', 'g'))
$function$`)

/** An RFC 3339 date-time with an offset, cut to the millisecond; null for any other text. */
const instantOf = sqlFunction("instant_of(value text)", () => `RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
DECLARE
  parts text[] := regexp_match(value,
    '^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})([.][0-9]{1,9}){0,1}([Zz]|[+-][0-9]{2}:[0-9]{2})$');
  year integer := parts[1]::integer;
  month integer := parts[2]::integer;
  day integer := parts[3]::integer;
  offset_hours integer := 0;
  offset_minutes integer := 0;
  days integer;
BEGIN
  IF parts IS NULL THEN RETURN NULL; END IF;
  IF length(parts[8]) > 1 THEN
    offset_hours := substr(parts[8], 2, 2)::integer;
    offset_minutes := substr(parts[8], 5, 2)::integer;
  END IF;
  IF month NOT BETWEEN 1 AND 12 OR parts[4] > '23' OR parts[5] > '59' OR parts[6] > '59' OR offset_hours > 23 OR offset_minutes > 59 THEN
    RETURN NULL;
  END IF;
  days := CASE
    WHEN month = 2 THEN CASE WHEN year % 4 = 0 AND (year % 100 <> 0 OR year % 400 = 0) THEN 29 ELSE 28 END
    WHEN month IN (4, 6, 9, 11) THEN 30
    ELSE 31
  END;
  IF day NOT BETWEEN 1 AND days THEN RETURN NULL; END IF;
  -- Postgres has no year 0: it is year 1 before our era
  RETURN (
    make_date(CASE WHEN year = 0 THEN -1 ELSE year END, month, day)
    + make_interval(hours => parts[4]::integer, mins => parts[5]::integer, secs => parts[6]::integer + rpad(substr(coalesce(parts[7], '.0'), 2), 3, '0')::numeric::float8 / 1000)
    - make_interval(hours => offset_hours, mins => offset_minutes) * CASE WHEN parts[8] LIKE '-%' THEN -1 ELSE 1 END
  ) AT TIME ZONE 'UTC';
END
$function$`)

export const jsonFunctions = [jsonNumber, inexactNumber, jsonNumberText, jsonPartsText, jsonText, utf16Length, instantOf]
