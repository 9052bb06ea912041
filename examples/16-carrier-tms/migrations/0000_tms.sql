CREATE SCHEMA "tms";
--> statement-breakpoint
CREATE TABLE "tms"."accounts" (
	"number" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tms"."charges" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tms"."charges_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"shipment" integer NOT NULL,
	"kind" text NOT NULL,
	"cents" integer NOT NULL,
	"entered_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tms"."customers" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"street" text NOT NULL,
	"city" text NOT NULL,
	"state" text NOT NULL,
	"postal_code" text NOT NULL,
	"api_key_id" text
);
--> statement-breakpoint
CREATE TABLE "tms"."drivers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tms"."drivers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"truck" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tms"."pickup_orders" (
	"number" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tms"."pickup_orders_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 501 CACHE 1),
	"request_id" text NOT NULL,
	"company" text NOT NULL,
	"city" text NOT NULL,
	"state" text NOT NULL,
	"ready_at" text NOT NULL,
	"status" text DEFAULT 'ordered' NOT NULL,
	"driver_id" integer,
	CONSTRAINT "pickup_orders_request_id_unique" UNIQUE("request_id")
);
--> statement-breakpoint
CREATE TABLE "tms"."sessions" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tms"."shipments" (
	"number" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tms"."shipments_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1001 CACHE 1),
	"bol_number" text NOT NULL,
	"account" text NOT NULL,
	"status" text DEFAULT 'booked' NOT NULL,
	"driver_id" integer,
	"description" text NOT NULL,
	"freight_class" text NOT NULL,
	"pallets" integer NOT NULL,
	"pounds" integer NOT NULL,
	"height_inches" integer NOT NULL,
	"booked_at" timestamp with time zone NOT NULL,
	"billed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "tms"."stops" (
	"shipment" integer NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"street" text NOT NULL,
	"city" text NOT NULL,
	"state" text NOT NULL,
	"postal_code" text NOT NULL,
	"done_at" timestamp with time zone,
	CONSTRAINT "stops_shipment_kind_pk" PRIMARY KEY("shipment","kind")
);
--> statement-breakpoint
CREATE TABLE "tms"."users" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tms"."users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"email" text NOT NULL,
	"name" text NOT NULL,
	"password_hash" text NOT NULL,
	"role" text NOT NULL,
	"customer_id" text,
	"failed_logins" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone,
	CONSTRAINT "users_email_unique" UNIQUE("email")
);
--> statement-breakpoint
ALTER TABLE "tms"."accounts" ADD CONSTRAINT "accounts_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "tms"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tms"."charges" ADD CONSTRAINT "charges_shipment_shipments_number_fk" FOREIGN KEY ("shipment") REFERENCES "tms"."shipments"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tms"."pickup_orders" ADD CONSTRAINT "pickup_orders_driver_id_drivers_id_fk" FOREIGN KEY ("driver_id") REFERENCES "tms"."drivers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tms"."sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "tms"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tms"."shipments" ADD CONSTRAINT "shipments_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "tms"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tms"."shipments" ADD CONSTRAINT "shipments_driver_id_drivers_id_fk" FOREIGN KEY ("driver_id") REFERENCES "tms"."drivers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tms"."stops" ADD CONSTRAINT "stops_shipment_shipments_number_fk" FOREIGN KEY ("shipment") REFERENCES "tms"."shipments"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tms"."users" ADD CONSTRAINT "users_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "tms"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "accounts_of_customer" ON "tms"."accounts" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "charges_of_shipment" ON "tms"."charges" USING btree ("shipment");--> statement-breakpoint
CREATE INDEX "sessions_by_end" ON "tms"."sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "shipments_of_account" ON "tms"."shipments" USING btree ("account");