/** Invoices with their history, supporting documents, and the documents' contents in chunks. */
import type { Migration } from "./Migrations.ts"

export const invoices: Migration = {
  id: 5,
  name: "invoices",
  breaking: false,
  up: (schema) => `
-- body: the JSON as it is returned, byte for byte. xid: decides which snapshots see it as it is now
CREATE TABLE ${schema}.invoices (
  tenant_id text COLLATE "C" NOT NULL,
  unique_id text COLLATE "C" NOT NULL,
  dot text COLLATE "C" NOT NULL,
  mc text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  invoice_number text COLLATE "C" NOT NULL,
  accounts text[] NOT NULL,
  body bytea NOT NULL,
  written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (tenant_id, unique_id, dot, mc)
);
CREATE INDEX invoices_written ON ${schema}.invoices USING brin (written_at);
CREATE INDEX invoices_shipment ON ${schema}.invoices (tenant_id, shipment_id);
-- those that name no account belong to the accounts of their shipment
CREATE INDEX invoices_unaddressed ON ${schema}.invoices (tenant_id, shipment_id) WHERE accounts = '{}';
CREATE INDEX invoices_number ON ${schema}.invoices (tenant_id, invoice_number);
CREATE INDEX invoices_dot ON ${schema}.invoices (tenant_id, dot, unique_id);
CREATE INDEX invoices_mc ON ${schema}.invoices (tenant_id, mc, unique_id);

-- the accounts that may see an invoice: those that it names, or else those of its shipment
CREATE TABLE ${schema}.invoice_accounts (
  tenant_id text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  unique_id text COLLATE "C" NOT NULL,
  dot text COLLATE "C" NOT NULL,
  mc text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, account, unique_id, dot, mc)
);
CREATE INDEX invoice_accounts_invoice ON ${schema}.invoice_accounts (tenant_id, unique_id, dot, mc);

-- whether an invoice or a record of documents that names no account was ever stored for it, so that only then a change of its accounts concerns these
ALTER TABLE ${schema}.shipments ADD COLUMN invoiced boolean NOT NULL DEFAULT false;

-- entries are only added; a corrected DOT or MC moves them
CREATE TABLE ${schema}.invoice_history (
  tenant_id text COLLATE "C" NOT NULL,
  unique_id text COLLATE "C" NOT NULL,
  dot text COLLATE "C" NOT NULL,
  mc text COLLATE "C" NOT NULL,
  entry_no bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL,
  client text COLLATE "C" NOT NULL,
  action text NOT NULL,
  doc text NOT NULL,
  PRIMARY KEY (tenant_id, unique_id, dot, mc, entry_no)
);

CREATE TABLE ${schema}.document_records (
  tenant_id text COLLATE "C" NOT NULL,
  invoice_number text COLLATE "C" NOT NULL,
  dot text COLLATE "C" NOT NULL,
  mc text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  accounts text[] NOT NULL,
  doc text NOT NULL,
  written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, invoice_number, dot, mc)
);
CREATE INDEX document_records_shipment ON ${schema}.document_records (tenant_id, shipment_id);
-- those that name no account belong to the accounts of their shipment
CREATE INDEX document_records_unaddressed ON ${schema}.document_records (tenant_id, shipment_id) WHERE accounts = '{}';
CREATE INDEX document_records_dot ON ${schema}.document_records (tenant_id, dot, invoice_number);
CREATE INDEX document_records_mc ON ${schema}.document_records (tenant_id, mc, invoice_number);

-- the accounts that may see a record: those that it names, or else those of its shipment
CREATE TABLE ${schema}.document_accounts (
  tenant_id text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  invoice_number text COLLATE "C" NOT NULL,
  dot text COLLATE "C" NOT NULL,
  mc text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, account, invoice_number, dot, mc)
);
CREATE INDEX document_accounts_record ON ${schema}.document_accounts (tenant_id, invoice_number, dot, mc);

CREATE TABLE ${schema}.document_files (
  tenant_id text COLLATE "C" NOT NULL,
  invoice_number text COLLATE "C" NOT NULL,
  dot text COLLATE "C" NOT NULL,
  mc text COLLATE "C" NOT NULL,
  file_no bigint GENERATED ALWAYS AS IDENTITY,
  file_id text COLLATE "C" NOT NULL,
  document_type text NOT NULL,
  content_id uuid NOT NULL,
  size bigint NOT NULL,
  sha256 text NOT NULL,
  media_type text NOT NULL,
  PRIMARY KEY (tenant_id, invoice_number, dot, mc, file_no)
);

-- the sum of document_files.size, which the tenant's quota is checked against. One row for each transaction that was open at the same time
CREATE TABLE ${schema}.document_usage (
  tenant_id text COLLATE "C" NOT NULL,
  part bigint GENERATED ALWAYS AS IDENTITY,
  bytes bigint NOT NULL,
  PRIMARY KEY (tenant_id, part)
) WITH (fillfactor = 70);

-- contents that a move of documents left behind, or began to write: removed once they are old enough. claimed: no file may get them any more
CREATE TABLE ${schema}.document_discards (
  tenant_id text COLLATE "C" NOT NULL,
  content_id uuid NOT NULL,
  discarded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  claimed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, content_id)
);

-- kept: its record was written. A content that is not kept after a day belongs to an upload that failed
CREATE TABLE ${schema}.document_contents (
  tenant_id text COLLATE "C" NOT NULL,
  content_id uuid NOT NULL,
  kept boolean NOT NULL DEFAULT false,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, content_id)
);
CREATE INDEX document_contents_loose ON ${schema}.document_contents (tenant_id, written_at) WHERE NOT kept;

-- EXTERNAL: PDF and JPEG are already compressed, and chunks are read one by one
CREATE TABLE ${schema}.document_chunks (
  tenant_id text COLLATE "C" NOT NULL,
  content_id uuid NOT NULL,
  chunk integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant_id, content_id, chunk)
);
ALTER TABLE ${schema}.document_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
`
}
